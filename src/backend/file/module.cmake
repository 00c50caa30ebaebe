# module.cmake: the file backend needs nothing but the kernel.
hf_backend(file IF TRUE TABLES file SCHEMES file CONTRACT file:)
