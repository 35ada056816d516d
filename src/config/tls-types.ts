/** Files of certificates and keys in PEM; their names are absolute. */
export interface TlsFiles {
  /** Certificates of those who sign for the other side. */
  readonly ca?: string | undefined
  /** The gateway's own certificate, with its chain. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** TLS of connections that the gateway opens. */
export interface ClientTls extends TlsFiles {
  /** In the place of the host by which a server is reached. */
  readonly serverName?: string | undefined
}

/** Which name of a client's certificate is its user. */
export type CertificateName = 'commonName' | 'dns' | 'email' | 'uri'

/** Certificates that clients show. */
export interface ClientCertificates {
  readonly ca: string
  /** Whether there is no connection without one. */
  readonly required: boolean
  /** Null: a certificate lets somebody connect, and says nothing about the user. */
  readonly user: CertificateName | null
  /** Users by such a name, where they are not called the same. Undefined: they are. */
  readonly users?: Readonly<Record<string, string>> | undefined
}

/** TLS of connections that the gateway accepts. */
export interface ServerTls {
  readonly cert: string
  readonly key: string
  readonly minVersion: '1.2' | '1.3'
  readonly clients?: ClientCertificates | null
}
