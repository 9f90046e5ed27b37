script_folder="/work/wt-pkg/packaging/conan/test_package/build/gcc-12-x86_64-20-release/generators"
echo "echo Restoring environment" > "$script_folder/deactivate_conanrunenv-release-x86_64.sh"
for v in PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH
do
   is_defined="true"
   value=$(printenv $v) || is_defined="" || true
   if [ -n "$value" ] || [ -n "$is_defined" ]
   then
       echo export "$v='$value'" >> "$script_folder/deactivate_conanrunenv-release-x86_64.sh"
   else
       echo unset $v >> "$script_folder/deactivate_conanrunenv-release-x86_64.sh"
   fi
done

export PATH="/tmp/tmp.BuE37GTsuo/conan/p/b/nigh5776fd1b78892/p/bin${PATH:+:$PATH}"
export LD_LIBRARY_PATH="/tmp/tmp.BuE37GTsuo/conan/p/b/nigh5776fd1b78892/p/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export DYLD_LIBRARY_PATH="/tmp/tmp.BuE37GTsuo/conan/p/b/nigh5776fd1b78892/p/lib${DYLD_LIBRARY_PATH:+:$DYLD_LIBRARY_PATH}"