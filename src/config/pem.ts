import { createPrivateKey, X509Certificate } from 'node:crypto'

/** RFC 7468 section 5, and the other labels that OpenSSL takes for a certificate (`PEM_read_bio_X509_AUX`). */
const CERTIFICATE = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^-]+-----END \1-----/g

/** Returns the certificates in a file. @throws if the file has no certificate, or one that cannot be parsed */
export function certificatesIn(pem: Buffer): readonly X509Certificate[] {
  const texts = pem.toString('latin1').match(CERTIFICATE) ?? []
  if (texts.length === 0) throw new Error('no certificate')
  return texts.map((text) => new X509Certificate(text))
}

/** Returns the problem if a file does not contain certificates or a key. Returns null if it does. */
export function pemProblemOf(member: 'ca' | 'cert' | 'key', pem: Buffer): string | null {
  try {
    if (member === 'key') createPrivateKey(pem)
    else certificatesIn(pem)
    return null
  } catch {
    return member === 'key'
      ? 'contains no private key in PEM format without a passphrase'
      : 'contains no certificate in PEM format'
  }
}

/** Returns whether a key belongs to the first certificate of a file. @throws in the cases that pemProblemOf reports */
export function isPair(cert: Buffer, key: Buffer): boolean {
  return certificatesIn(cert)[0]?.checkPrivateKey(createPrivateKey(key)) === true
}
