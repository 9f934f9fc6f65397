"""Builds the two extension modules of mshard.

mshard._mshard (read, write, verify) and mshard._pack (pack raw files) each hold their own copy of the C library, compiled
from ../libformat, or from libformat/ inside a source distribution. Without those sources the installed libmshard is
linked, found by pkg-config. mshard._pack is left out, with a message, where libvips or libarchive cannot be found or
MSHARD_WITHOUT_PACK is set; everything else works without it.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = os.path.dirname(os.path.abspath(__file__))
LIBFORMAT = next((d for d in (os.path.join(HERE, "libformat"), os.path.join(os.path.dirname(HERE), "libformat"))
                  if os.path.isdir(os.path.join(d, "src", "base"))), None)
CORE_FOLDERS = ("base", "os", "format", "dataset", "sampling", "transform", "cache", "loader")
CORE_PACKAGES = ("libxxhash", "jansson", "lmdb")
INGEST_PACKAGES = ("libarchive", "vips", "zlib")
MACROS = [("Py_LIMITED_API", "0x030b0000"), ("_GNU_SOURCE", None)]
C_FLAGS = ["-std=gnu11", "-O2", "-fvisibility=hidden", "-Wall", "-Wextra"]
EXPORTS = ["-Wl,--version-script=" + os.path.join(HERE, "src", "exports.map"), "-Wl,-Bsymbolic"]


def pkg_config(*packages):
    """Compiler and linker flags of packages, or None when one is missing."""
    command = os.environ.get("PKG_CONFIG", "pkg-config")
    answers = []
    for flag in ("--cflags", "--libs"):
        try:
            done = subprocess.run([command, flag, *packages], capture_output=True, text=True)
        except FileNotFoundError:
            sys.exit(f"mshard: {command} was not found; on Debian: apt-get install pkg-config")
        if done.returncode != 0:
            return None
        answers.append(done.stdout.split())
    return answers


def need(*packages):
    """pkg_config(), or the end of the build with the packages' names."""
    flags = pkg_config(*packages)
    if flags is None:
        missing = [p for p in packages if pkg_config(p) is None]
        sys.exit(f"mshard: pkg-config does not find {' '.join(missing)}; on Debian: "
                 "apt-get install libxxhash-dev libjansson-dev liblmdb-dev")
    return flags


def sources(folders):
    return sorted(path for f in folders for path in glob.glob(os.path.join(LIBFORMAT, "src", f, "*.c")))


def headers():
    return ["src/" + name for name in ("binding.h", "dataset.h", "errors.h", "writer.h")]


def version():
    """From version.h of the tree, else of the installed library."""
    if LIBFORMAT is None:
        return subprocess.run([os.environ.get("PKG_CONFIG", "pkg-config"), "--modversion", "libmshard"],
                              capture_output=True, text=True, check=True).stdout.strip()
    with open(os.path.join(LIBFORMAT, "include", "mshard", "version.h"), encoding="utf-8") as file:
        return re.search(r'#define MSHARD_VERSION "([^"]+)"', file.read()).group(1)


class BuildExt(build_ext):
    """Adds the C library to the modules; it is compiled once and linked into both."""

    def compile_library(self, folders, flags):
        """Objects of the library's folders. Paths are absolute, so objects stay below build_temp."""
        include = [os.path.join(LIBFORMAT, "include"), os.path.join(LIBFORMAT, "src")]

        def one(source):
            return self.compiler.compile([source], output_dir=self.build_temp, include_dirs=include,
                                         macros=[("_GNU_SOURCE", None)], debug=self.debug,
                                         extra_postargs=C_FLAGS + flags)

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            return [obj for objects in pool.map(one, sources(folders)) for obj in objects]

    def link_library(self, extension, folders, packages):
        cflags, libs = need(*packages)
        if folders:
            extension.extra_objects = self.compile_library(folders, cflags)
            extension.include_dirs.append(os.path.join(LIBFORMAT, "include"))
            # else a build tree left by an earlier install would keep its old module
            extension.depends += glob.glob(os.path.join(LIBFORMAT, "**", "*.[ch]"), recursive=True)
        extension.extra_compile_args = C_FLAGS + cflags
        extension.extra_link_args = EXPORTS + libs + ["-lm", "-lpthread"]

    def prepare_core(self, extension):
        import numpy
        if int(numpy.__version__.split(".")[0]) < 2:
            # A distribution's numpy 1 without build isolation: its own packages then fit together, with no download.
            self.warn(f"built against numpy {numpy.__version__}: this module runs with numpy 1 only; `pip install` with "
                      "build isolation fetches numpy 2 and makes one that runs with 1.22 and newer")
        extension.include_dirs.append(numpy.get_include())
        if LIBFORMAT is None:
            self.link_library(extension, (), ("libmshard",))
        else:
            self.link_library(extension, CORE_FOLDERS, CORE_PACKAGES)
        self.core_objects = list(extension.extra_objects)

    def prepare_pack(self, extension):
        """False when it cannot be built here."""
        packages = ("libmshard-ingest",) if LIBFORMAT is None else INGEST_PACKAGES
        missing = [p for p in packages if pkg_config(p) is None]
        if os.environ.get("MSHARD_WITHOUT_PACK"):
            return False
        if missing or (LIBFORMAT is not None and not sources(("ingest",))):
            self.warn(f"mshard.pack is left out: pkg-config does not find {' '.join(missing) or 'its sources'} "
                      "(on Debian: apt-get install libvips-dev libarchive-dev)")
            return False
        if LIBFORMAT is None:
            self.link_library(extension, (), packages)
        else:
            self.link_library(extension, ("ingest",), INGEST_PACKAGES + CORE_PACKAGES)
            extension.extra_objects += self.core_objects
        return True

    def build_extensions(self):
        by_name = {extension.name: extension for extension in self.extensions}
        self.prepare_core(by_name["mshard._mshard"])
        if not self.prepare_pack(by_name["mshard._pack"]):
            self.extensions.remove(by_name["mshard._pack"])
        super().build_extensions()


class SDist(sdist):
    """Carries the C library's sources, so that the distribution builds by itself."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        if LIBFORMAT is not None:
            for part in ("include", "src"):
                shutil.copytree(os.path.join(LIBFORMAT, part), os.path.join(base_dir, "libformat", part),
                                dirs_exist_ok=True)


def extension(name, *files):
    return Extension(name, ["src/" + f for f in files], define_macros=MACROS, depends=headers(), py_limited_api=True)


setup(
    version=version(),
    license="Apache-2.0",
    options={"bdist_wheel": {"py_limited_api": "cp311"}},  # here, as [tool.distutils] in pyproject.toml is experimental
    cmdclass={"build_ext": BuildExt, "sdist": SDist},
    ext_modules=[
        extension("mshard._mshard", "module.c", "errors.c", "store.c", "view.c", "index.c", "column.c", "gather.c",
                  "dataset.c", "dataset_info.c", "keys.c", "describe.c", "writer.c", "writer_setup.c",
                  "writer_value.c", "verify.c"),
        extension("mshard._pack", "pack_module.c", "errors.c"),
    ],
)
