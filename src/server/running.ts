import { ConfigError } from '../config/config.ts'
import { openWatchedFile, type WatchedFile } from '../files/watched-file.ts'
import type { ReloadResult } from './reload.ts'

/** A gateway that listens. */
export interface RunningGateway {
  /** `http://127.0.0.1:8080` */
  readonly address: string
  readonly adminAddress: string
  /** Applies the current content of the configuration file as a whole, or not at all. */
  readonly reload: () => Promise<ReloadResult>
  /**
   * Refuses new work, lets requests in flight finish, then closes. Resolves at the deadline at the latest, to `failed` if a worker
   * exited with a failure.
   */
  readonly drain: () => Promise<'failed' | void>
}

/** Watches the text of the configuration file only. The reload that parses the text reports its problems. */
export function watchConfig(path: string, onChange: () => void): Promise<WatchedFile<string>> {
  return openWatchedFile({ path, parse: String, staleAfterMs: Infinity, onLook: onChange })
}

const BIND_CALLS: ReadonlySet<string> = new Set(['getaddrinfo', 'listen', 'bind'])

/** Reports an address that cannot be bound as a configuration problem at this key. @throws ConfigError */
export async function atKey<T>(key: 'listen' | 'admin', opening: Promise<T>): Promise<T> {
  try {
    return await opening
  } catch (cause) {
    const syscall = cause instanceof Error && 'syscall' in cause ? cause.syscall : null
    if (!(cause instanceof Error) || !BIND_CALLS.has(String(syscall))) throw cause
    // A host name is resolved first.
    const place = syscall === 'getaddrinfo' ? `${key}.host` : key
    throw new ConfigError('The configuration', [`${place}: ${cause.message}`])
  }
}
