/** The share of its time after which a remembered value that is used is renewed in the background, so that no request waits for it. */
export const RENEWAL_SHARE = 0.7
