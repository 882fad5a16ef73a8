/* bcryptprimitives.dll, which Rust's standard library asks for seeds of hash tables, and which older Wine lacks. */
unsigned char SystemFunction036(void *, unsigned long);
__declspec(dllexport) int ProcessPrng(unsigned char *to, unsigned long long size) { return SystemFunction036(to, size); }
