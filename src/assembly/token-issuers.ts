import { type Config, type IssuerConfig, settingsOf, type TokensConfig } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { createIssuerKeys, type IssuerKeys, type KeptIssuerKeys } from '../policy/authn/issuer-keys.ts'
import type { ClaimSettings } from '../policy/authn/token-claims.ts'
import type { TokenIssuer } from '../policy/authn/tokens.ts'
import { secretKeyOf } from '../policy/authn/verification-key.ts'

/** What was read of each issuer, by what it was read from. */
export type KeptIssuers = ReadonlyMap<string, KeptIssuerKeys>

/** The keys of all issuers, each read once however many engines believe it. */
export interface IssuerKeySets {
  readonly of: (setting: IssuerConfig) => IssuerKeys
  /** Resolves after the first reading of each, however it ends. */
  readonly start: () => Promise<void>
  readonly close: () => void
  /** For the set that comes after. */
  readonly kept: KeptIssuers
}

/** An issuer of one engine's configuration. */
export interface NamedIssuer {
  readonly name: string
  readonly keys: Pick<IssuerKeys, 'state'>
}

/** @param before what the configuration before has read: it counts on where the issuer is the same */
export function createIssuerKeySets(config: Config, log: Logger, before: KeptIssuers | null): IssuerKeySets {
  const kept = new Map<string, KeptIssuerKeys>()
  const all = new Map<string, IssuerKeys>()
  for (const setting of issuerSettingsOf(config)) {
    const key = settingKeyOf(setting)
    if (all.has(key)) continue
    const place = placeOf(setting)
    const known = kept.get(place) ?? before?.get(place)
    const keys = createIssuerKeys({
      ...readingOf(setting),
      ...(known === undefined ? {} : { kept: known }),
      onChange: (problem) => logChange(log, setting, problem),
    })
    kept.set(place, keys.kept)
    all.set(key, keys)
  }
  return {
    of: (setting) => {
      const keys = all.get(settingKeyOf(setting))
      if (keys === undefined) throw new Error(`The issuer ${setting.name} was not opened`)
      return keys
    },
    start: async () => void (await Promise.all([...all.values()].map((keys) => keys.start()))),
    close: () => all.forEach((keys) => keys.close()),
    kept,
  }
}

/** The issuers of all engines. */
export function issuerSettingsOf(config: Config): readonly IssuerConfig[] {
  return Object.values(config.engines).flatMap((engine) => tokensOf(config, engine)?.issuers ?? [])
}

function tokensOf(config: Config, engine: Config['engines'][string]): TokensConfig | null {
  return settingsOf(config, engine).identity.tokens
}

/** A question that changes nothing, for `check --connect`. @throws Error that says why the issuer is of no use */
export async function askIssuer(setting: IssuerConfig, withinMs: number): Promise<string> {
  const count = await createIssuerKeys(readingOf(setting)).count(withinMs)
  return count === 1 ? '1 key' : `${count} keys`
}

function readingOf({ issuer, jwksUri, refresh, staleAfter }: IssuerConfig) {
  return { issuer, jwksUri, refreshMs: refresh, staleAfterMs: staleAfter }
}

function placeOf({ issuer, jwksUri }: IssuerConfig): string {
  return JSON.stringify([issuer, jwksUri])
}

function settingKeyOf(setting: IssuerConfig): string {
  return JSON.stringify(readingOf(setting))
}

function logChange(log: Logger, { name, issuer }: IssuerConfig, problem: string | null): void {
  if (problem === null) log.info({ issuer, name }, 'the keys of the issuer are read again')
  else
    log.warn(
      { issuer, name, why: problem },
      'the keys of the issuer cannot be read: the last ones count for a while, and without any its tokens are 503',
    )
}

/** Whose tokens an engine believes, by `iss`. */
export function trustedIssuersOf(
  { issuers, session }: TokensConfig,
  sets: Pick<IssuerKeySets, 'of'>,
): ReadonlyMap<string | null, TokenIssuer> {
  const trusted = new Map<string | null, TokenIssuer>(
    issuers.map((setting) => [setting.issuer, trustedIssuerOf(setting, sets.of(setting))]),
  )
  if (session !== null) trusted.set(null, sessionIssuerOf(session))
  return trusted
}

function trustedIssuerOf(setting: IssuerConfig, keys: IssuerKeys): TokenIssuer {
  const { name, issuer, audience, algorithms, types, skew, claims, groups, tenants } = setting
  const { userPrefix, groupPrefix } = setting
  return {
    authentication: { method: 'oidc', issuer: name },
    iss: issuer,
    keys,
    algorithms: new Set<string>(algorithms),
    types: new Set(types.map((type) => type.toLowerCase())),
    audience: new Set(audience),
    skewSeconds: skew / 1000,
    claims: { ...claims, userPrefix, groupPrefix: groupPrefix ?? `${name}:` },
    groups,
    tenants,
  }
}

const SESSION_CLAIMS: ClaimSettings = {
  user: ['sub'],
  client: null,
  groups: [],
  tenants: [],
  required: [],
  userPrefix: '',
  groupPrefix: '',
}

function sessionIssuerOf({ secret, algorithms, skew }: NonNullable<TokensConfig['session']>): TokenIssuer {
  const key = secretKeyOf(Buffer.from(secret, 'base64'))
  const all: readonly string[] = algorithms ?? ['HS256', 'HS384', 'HS512']
  return {
    authentication: { method: 'session', issuer: null },
    iss: null,
    keys: {
      find: (kid, alg) => (kid === null && key.fits(alg) ? key : null),
      has: (one) => one.id === key.id,
    },
    algorithms: new Set(all.filter((alg) => key.fits(alg))),
    types: new Set(['jwt']),
    audience: null,
    skewSeconds: skew / 1000,
    claims: SESSION_CLAIMS,
    groups: 'source',
    tenants: 'source',
  }
}
