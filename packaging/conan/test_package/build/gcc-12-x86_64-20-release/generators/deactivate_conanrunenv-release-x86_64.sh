echo Restoring environment
export PATH='/work/wt-pkg/build/packages/recipes/tools/bin:/usr/bin:/usr/local/go/bin:/root/go/bin:/root/.cargo/bin:/root/.cargo/bin:/root/.pyenv/plugins/pyenv-virtualenv/shims:/root/.pyenv/shims:/root/.pyenv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
unset LD_LIBRARY_PATH
unset DYLD_LIBRARY_PATH
