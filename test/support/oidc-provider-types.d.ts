/** The part of the package that the tests use. Its own types would add those of a web framework. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  export default class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>)
    readonly callback: () => RequestListener
  }
}
