/*
 * blank.c: a library that is no backend module, for the loader's test.
 */
__attribute__((visibility("default"))) int holdfast_blank(void);

int holdfast_blank(void)
{
    return 0;
}
