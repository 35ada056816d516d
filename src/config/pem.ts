import { createPrivateKey, X509Certificate } from 'node:crypto'

/** RFC 7468 section 5, and the other labels that OpenSSL takes for a certificate (`PEM_read_bio_X509_AUX`). */
const CERTIFICATE = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^-]+-----END \1-----/g

/** At least one. @throws where there is none, or one that cannot be parsed */
export function certificatesIn(pem: Buffer): readonly X509Certificate[] {
  const texts = pem.toString('latin1').match(CERTIFICATE) ?? []
  if (texts.length === 0) throw new Error('no certificate')
  return texts.map((text) => new X509Certificate(text))
}

/** What a file of certificates, or of a key, does not hold; null: it holds that. */
export function pemProblemOf(member: 'ca' | 'cert' | 'key', pem: Buffer): string | null {
  try {
    if (member === 'key') createPrivateKey(pem)
    else certificatesIn(pem)
    return null
  } catch {
    return member === 'key'
      ? 'holds no private key in PEM without a passphrase'
      : 'holds no certificate in PEM'
  }
}

/** Whether the key is that of the certificate, the first of its file. @throws what pemProblemOf tells of */
export function isPair(cert: Buffer, key: Buffer): boolean {
  return certificatesIn(cert)[0]?.checkPrivateKey(createPrivateKey(key)) === true
}
