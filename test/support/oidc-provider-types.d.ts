/** What the tests use of it: its own types would bring those of a web framework. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  export default class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>)
    readonly callback: () => RequestListener
  }
}
