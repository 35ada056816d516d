import { z } from 'zod'
import { SECRET_BYTES, secretBytesOf, sharedSecret } from './shared-secret.ts'
import { age, httpUrl, issuerName, issuerUrl, time } from './values.ts'

const FIVE_MINUTES_MS = 300_000
const TEN_MINUTES_MS = 600_000
const ONE_HOUR_MS = 3_600_000
const MAX_ISSUERS = 8
const MAX_NAMES = 16
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const

const word = z.string().min(1)
/** A collision-resistant name (RFC 7519 section 4.2) whose dots are all in the host. */
const URI_NAME = /^https?:\/\/[^/]+(?:\/[^.]*)?$/
/** Dots separate the names of nested members, unless the text is a URI. A text is refused if a dot could be either. */
const claimText = word.transform((text, context) => {
  if (URI_NAME.test(text)) return [text]
  const names = text.split('.')
  const isAmbiguous = names.length > 1 && /[/:]/.test(text)
  if (!isAmbiguous && names.every((name) => name !== '')) return names
  context.addIssue({
    code: 'custom',
    message: isAmbiguous
      ? 'a dot here may be part of a name: write a list of names'
      : 'a name between the dots is empty',
  })
  return z.NEVER
})
/** A path to a claim of a token. */
export const claimPath = z
  .union(
    [claimText, z.array(word).min(1).max(8)],
    'a path like realm_access.roles or a list of names is needed',
  )
  .meta({ title: 'path like `realm_access.roles`, or a list of names' })
const claims = z.array(claimPath).max(MAX_NAMES)
const from = z.enum(['token', 'source', 'both'])

const skew = age()
  .refine((ms) => ms <= FIVE_MINUTES_MS, 'must be at most 5m')
  .default(30_000)
  .describe('Tolerance for differences between clocks, at most five minutes.')

const claimSettings = z
  .strictObject({
    user: claimPath
      .default(['sub'])
      .describe(
        'The claim with the user id. Danger: do not use a claim that users can change themselves, for example `preferred_username` or `email` at some issuers.',
      ),
    client: claimPath
      .nullable()
      .default(null)
      .describe(
        'The claim with the user id of a token that has no claim `user`, for client credentials: `client_id`. If null, such a token is refused. ' +
          'Danger: if tokens of users also have this claim, for example `azp`, a user without the claim `user` acts as the client.',
      ),
    groups: claims
      .default([])
      .describe(
        'Claims with groups. The value of each claim is a text or a list of texts. A path consists of names separated by dots. ' +
          'Write a list if a name contains a dot: `[resource_access, my.client, roles]`. A URI like `https://app.example.com/roles` is one name.',
      ),
    tenants: claims.default([]).describe('Claims with tenants, written in the same way as `groups`.'),
    required: claims
      .default([])
      .describe(
        'Claims of `groups` and `tenants` that every token must contain, written in the same way. A token without one of them is refused. ' +
          'An empty list is enough.',
      ),
  })
  .superRefine(({ groups, tenants, required }, context) => {
    const known = new Set([...groups, ...tenants].map((path) => JSON.stringify(path)))
    for (const [at, path] of required.entries())
      if (!known.has(JSON.stringify(path)))
        context.addIssue({
          code: 'custom',
          path: ['required', at],
          message: 'must be one of the claims in groups or tenants',
        })
  })

const issuer = z
  .strictObject({
    name: issuerName.describe(
      'The name of the issuer in logs and metrics. Each issuer needs a different name.',
    ),
    issuer: issuerUrl.describe(
      "The value of `iss` in the issuer's tokens. The comparison is exact. The gateway finds the keys through `{issuer}/.well-known/openid-configuration`.",
    ),
    jwksUri: httpUrl
      .nullable()
      .default(null)
      .describe(
        "The URL of the issuer's keys. The gateway then uses no discovery. Set it if the issuer has no discovery, or if the gateway reaches it by another name.",
      ),
    audience: z
      .array(word)
      .min(1, 'at least one audience is needed')
      .max(MAX_NAMES)
      .describe(
        'A token must contain one of these values in `aud`. ' +
          'Danger: do not use the id of a client whose users get ID tokens, because ID tokens also contain that id in `aud`.',
      ),
    algorithms: z
      .array(z.enum(ALGORITHMS))
      .min(1, 'at least one algorithm is needed')
      .default(['RS256', 'PS256', 'ES256', 'EdDSA'])
      .describe('Signature algorithms that are accepted.'),
    types: z
      .array(z.enum(['at+jwt', 'JWT']))
      .min(1, 'at least one type is needed')
      .default(['at+jwt', 'JWT'])
      .describe(
        'Accepted values of `typ` in the header. A token without `typ` counts as `JWT`. ' +
          'If the issuer marks its access tokens (RFC 9068), `[at+jwt]` alone refuses ID tokens.',
      ),
    skew,
    claims: claimSettings.prefault({}).describe('The claims that contain the user, groups and tenants.'),
    userPrefix: z
      .string()
      .max(64)
      .default('')
      .describe(
        'A prefix of each user id from a token. ' +
          'Danger: without a prefix, a user of the issuer is the same user as the user with that name in `identity.source` and at other issuers.',
      ),
    groupPrefix: z
      .string()
      .max(64)
      .nullable()
      .default(null)
      .describe(
        "A prefix of each group from a token. If null, it is the issuer's `name` and a colon: `keycloak:clerks`. " +
          'Danger: if it is empty, a person who assigns groups at the issuer can also assign those in `authorization.adminGroups`.',
      ),
    groups: from
      .default('token')
      .describe(
        "Where groups come from. `token`: the claims of the token. `source`: the user's entry in `identity.source`. `both`: the two together. " +
          'With `source` and `both`, a user that `identity.source` does not contain is refused.',
      ),
    tenants: from.default('token').describe('Where tenants come from, with the same values as `groups`.'),
    refresh: time(10_000)
      .default(TEN_MINUTES_MS)
      .describe(
        'Time between two reads of the keys. For a token with an unknown key, the keys are read at once, at most every ten seconds.',
      ),
    staleAfter: age()
      .default(ONE_HOUR_MS)
      .describe(
        'Maximum age of the keys. If the last successful read is older, the keys are not used, and tokens of the issuer get 503. ' +
          'It must be longer than `refresh`.',
      ),
  })
  .refine(({ refresh, staleAfter }) => staleAfter > refresh, {
    path: ['staleAfter'],
    error: 'must be longer than refresh',
  })

const session = z
  .strictObject({
    secret: sharedSecret.describe(
      "The value of the web client's setting `cibseven.webclient.authentication.jwtSecret`. Use `${file:…}` to keep it out of this file. " +
        'Danger: a client that knows the secret can act as any user.',
    ),
    algorithms: z
      .array(z.enum(['HS256', 'HS384', 'HS512']))
      .min(1, 'at least one algorithm is needed')
      .optional()
      .describe(
        'Signature algorithms that are accepted. The secret must be at least as long as the digest of each: 32, 48 or 64 bytes. ' +
          'Default: every algorithm for which the secret is long enough.',
      ),
    skew,
  })
  .superRefine(({ secret, algorithms = [] }, context) => {
    for (const algorithm of algorithms)
      if (secretBytesOf(secret) < SECRET_BYTES[algorithm])
        context.addIssue({
          code: 'custom',
          path: ['algorithms'],
          message: `${algorithm} needs a secret of ${SECRET_BYTES[algorithm]} bytes`,
        })
  })

export type TokensConfig = z.infer<typeof tokenSettings>
export type IssuerConfig = z.infer<typeof issuer>

/** The section `identity.tokens`. */
export const tokenSettings = z
  .strictObject({
    issuers: z
      .array(issuer)
      .max(MAX_ISSUERS, `at most ${MAX_ISSUERS} issuers are permitted`)
      .default([])
      .describe(
        'Issuers of access tokens, at most eight. The tokens are JSON Web Tokens of OpenID Connect providers.',
      ),
    session: session
      .nullable()
      .default(null)
      .describe(
        "Session tokens of CIB seven's web client. `sub` is a user of `identity.source`, which also contains the groups and tenants. " +
          'If null, session tokens are not accepted.',
      ),
    remember: age()
      .default(FIVE_MINUTES_MS)
      .describe(
        'How long a verified token is remembered, at most until it expires. ' +
          'If groups or tenants come from `identity.source`, `identity.remember` applies if it is shorter. If zero, no token is remembered.',
      ),
  })
  .superRefine(({ issuers, session: sessions }, context) => {
    if (issuers.length === 0 && sessions === null)
      context.addIssue({ code: 'custom', message: 'an issuer or session is needed' })
    for (const member of ['name', 'issuer'] as const)
      for (const [at, one] of issuers.entries()) {
        const first = issuers.findIndex((other) => other[member] === one[member])
        if (first < at)
          context.addIssue({
            code: 'custom',
            path: ['issuers', at, member],
            message: `is the same as in issuers[${first}]`,
          })
      }
  })
