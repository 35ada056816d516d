import { words } from './texts.ts'

/* Fragments for several query tests. */

export const FLAG_FRAGMENTS = words(`
    true true TRUE True tRuE false False null 1 0 2 -1 1.0 1.5 0.0 1e0 -0 %22 %22 %20 + %09 %0A
    %00 %C2%A0 x , %5C t /**/ %23 [ {} 01 %2B1 %5Cu0074rue 9223372036854775808 NaN
  `)
export const TEXT_FRAGMENTS = [...words('a b Work %25 _ , + %20 %C3%A4 %22 %5C %27 anna ben null A'), '']
