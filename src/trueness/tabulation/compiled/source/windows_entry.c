/* What Windows calls when it loads the library, which is linked without a C runtime. There is nothing to set up. */
int __stdcall DllMainCRTStartup(void *library, unsigned long reason, void *reserved)
{
    (void)library;
    (void)reason;
    (void)reserved;
    return 1;
}
