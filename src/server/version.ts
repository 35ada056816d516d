import { readFileSync } from 'node:fs'
import { bodyText } from '../request/body.ts'

export function versionOf(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return bodyText(manifest, 'version') ?? 'unknown'
}
