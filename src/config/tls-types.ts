/** Files of certificates and keys in PEM; their names are absolute. */
export interface TlsFiles {
  /** Certificates of the authorities that sign for the other side. */
  readonly ca?: string | undefined
  /** The gateway's own certificate, with its chain. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** TLS of connections that the gateway opens. */
export interface ClientTls extends TlsFiles {
  /** The name that replaces the server's host in TLS. */
  readonly serverName?: string | undefined
}

/** The name in a client certificate that identifies the user. */
export type CertificateName = 'commonName' | 'dns' | 'email' | 'uri'

/** Settings of client certificates. */
export interface ClientCertificates {
  readonly ca: string
  /** Whether a connection without a certificate is refused. */
  readonly required: boolean
  /** Null if a certificate permits the connection but does not identify the user. */
  readonly user: CertificateName | null
  /** User ids by the name in the certificate. Undefined if the name in the certificate is the user id. */
  readonly users?: Readonly<Record<string, string>> | undefined
}

/** TLS of connections that the gateway accepts. */
export interface ServerTls {
  readonly cert: string
  readonly key: string
  readonly minVersion: '1.2' | '1.3'
  readonly clients?: ClientCertificates | null
}
