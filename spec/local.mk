# spec/local.mk - pages that go into the tarball
EXTRA_DIST += %D%/README.md %D%/shard.md %D%/dtypes.md %D%/manifest.md %D%/key-index.md %D%/threat-model.md %D%/order.md \
	%D%/vectors %D%/tools %D%/reader
