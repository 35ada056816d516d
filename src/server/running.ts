import { ConfigError } from '../config/config.ts'
import { openWatchedFile, type WatchedFile } from '../files/watched-file.ts'
import type { Reloaded } from './reload.ts'

/** A gateway that listens. */
export interface Running {
  /** `http://127.0.0.1:8080` */
  readonly address: string
  readonly adminAddress: string
  /** Puts in force what the file says now, or nothing of it. */
  readonly reload: () => Promise<Reloaded>
  /** Refuses new work, lets what is under way finish, closes. Resolves at the deadline at the latest. */
  readonly drain: () => Promise<void>
}

/** Looks at the text alone: what is wrong with it is said by who reads it. */
export function watchConfig(path: string, onChange: () => void): Promise<WatchedFile<string>> {
  return openWatchedFile({ path, parse: (text) => text, staleAfterMs: Infinity, onLook: onChange })
}

/** An address that cannot be listened at is a problem of the configuration, at this key. @throws ConfigError */
export async function atKey<T>(key: 'listen' | 'admin', opening: Promise<T>): Promise<T> {
  try {
    return await opening
  } catch (cause) {
    const syscall = cause instanceof Error && 'syscall' in cause ? cause.syscall : null
    if (!(cause instanceof Error) || (syscall !== 'listen' && syscall !== 'bind')) throw cause
    throw new ConfigError('The configuration', [`${key}: ${cause.message}`])
  }
}
