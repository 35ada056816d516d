import { readFileSync } from 'node:fs'
import { ConfigError } from '../config/config.ts'
import { textIn } from '../config/file-text.ts'
import { messageOf } from '../errors.ts'

/** Reads a text file that an argument names. @throws ConfigError */
export function readText(file: string): string {
  try {
    return textIn(readFileSync(file))
  } catch (cause) {
    throw new ConfigError(file, [messageOf(cause)])
  }
}
