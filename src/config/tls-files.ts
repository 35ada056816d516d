import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { certificatesIn, isPair, pemProblemOf } from './pem.ts'
import { shownPath } from './shown-name.ts'
import type { RedisSettings } from './redis-types.ts'
import type { Config } from './schema.ts'
import type { ClientTls, ServerTls, TlsFiles } from './tls-types.ts'

type WithTls = Pick<Config, 'listen' | 'admin' | 'engines' | 'cache' | 'passthrough'>

/** Returns the settings with absolute file names of certificates and keys. `base` is the folder of the configuration file. */
export function withAbsoluteTlsFiles<T extends WithTls>(config: T, base: string): T {
  const { listen, admin, engines, cache, passthrough } = config
  return {
    ...config,
    listen: { ...listen, tls: listen.tls && absoluteServerFiles(listen.tls, base) },
    admin: { ...admin, tls: admin.tls && absoluteFiles(admin.tls, base) },
    engines: Object.fromEntries(
      Object.entries(engines).map(([name, engine]) => [name, withAbsoluteFiles(engine, base)]),
    ),
    passthrough: passthrough.map((application) => withAbsoluteFiles(application, base)),
    cache: { ...cache, redis: cache.redis && absoluteRedisFiles(cache.redis, base) },
  }
}

function withAbsoluteFiles<T extends { readonly tls?: ClientTls | undefined }>(settings: T, base: string): T {
  const { tls } = settings
  return { ...settings, ...(tls && { tls: absoluteFiles(tls, base) }) }
}

function absoluteRedisFiles(redis: RedisSettings, base: string): RedisSettings {
  const { sentinel } = redis
  return {
    ...withAbsoluteFiles(redis, base),
    ...(sentinel && { sentinel: withAbsoluteFiles(sentinel, base) }),
  }
}

function absoluteServerFiles<T extends ServerTls>(tls: T, base: string): T {
  const { clients } = tls
  return { ...absoluteFiles(tls, base), clients: clients && absoluteFiles(clients, base) }
}

function absoluteFiles<T extends TlsFiles>(tls: T, base: string): T {
  const files = FILES.flatMap((member) => {
    const file = tls[member]
    return file === undefined ? [] : [[member, resolve(base, file)] as const]
  })
  return { ...tls, ...Object.fromEntries(files) }
}

/** Returns all files of certificates and keys that a configuration names, by the paths of their sections. */
export function tlsFilesOf({
  listen,
  admin,
  engines,
  cache,
  passthrough,
}: WithTls): ReadonlyMap<string, TlsFiles> {
  const sections: readonly (readonly [path: string, files: TlsFiles | null | undefined])[] = [
    ['listen.tls', listen.tls],
    ['listen.tls.clients', listen.tls?.clients],
    ['admin.tls', admin.tls],
    ...Object.entries(engines).map(([name, { tls }]) => [`engines.${name}.tls`, tls] as const),
    ...passthrough.map(({ tls }, at) => [`passthrough[${at}].tls`, tls] as const),
    ['cache.redis.tls', cache.redis?.tls],
    ['cache.redis.sentinel.tls', cache.redis?.sentinel?.tls],
  ]
  return new Map(
    sections.flatMap(([path, files]) => (files === null || files === undefined ? [] : [[path, files]])),
  )
}

/** Returns the files that contain certificates, with their paths: `listen.tls.cert`. */
export function certificateFilesOf(
  config: WithTls,
): readonly { readonly path: string; readonly file: string }[] {
  return [...tlsFilesOf(config)].flatMap(([path, files]) =>
    (['ca', 'cert'] as const).flatMap((member) => {
      const file = files[member]
      return file === undefined ? [] : [{ path: `${path}.${member}`, file }]
    }),
  )
}

/** Returns the problems of the files in their current state, each as `path: problem`. `path` is the path of their section. */
export function tlsProblemsOf(path: string, tls: TlsFiles): readonly string[] {
  const { cert, key } = tls
  const problems = FILES.flatMap((member) => {
    const file = tls[member]
    if (file === undefined) return []
    const problem = fileProblemOf(file, member)
    return problem === null ? [] : [`${path}.${member}: the file ${shownPath(file)} ${problem}`]
  })
  if (problems.length > 0 || cert === undefined || key === undefined) return problems
  return isPair(readFileSync(cert), readFileSync(key)) ? [] : [`${path}.key: is not the key of cert`]
}

const FILES = ['ca', 'cert', 'key'] as const

function fileProblemOf(file: string, member: (typeof FILES)[number]): string | null {
  try {
    return pemProblemOf(member, readFileSync(file))
  } catch {
    return 'cannot be read'
  }
}

/** Returns when the first of the certificates in a file expires, in ms since 1970. Returns null if the file cannot be read. */
export function certificateEndOf(file: string): number | null {
  try {
    const ends = certificatesIn(readFileSync(file)).map(({ validToDate }) => validToDate.getTime())
    return Math.min(...ends)
  } catch {
    return null
  }
}
