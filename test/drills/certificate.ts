import { execFileSync } from 'node:child_process'
import { copyFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { makeFolder } from '../support/temporary-folder.ts'

/** The self-signed certificate of a listener at 127.0.0.1, and its key. Both are files that a drill replaces. */
export interface DrillCertificate {
  readonly cert: string
  readonly key: string
  /** Replaces the certificate with a new one for the same key that is valid for this number of days. */
  readonly renew: (days: number) => void
  /** Replaces the key with one that does not match the certificate. Returns a function that restores the right key. */
  readonly swapKey: () => () => void
}

export function makeCertificate(t: Test, { days }: { readonly days: number }): DrillCertificate {
  const folder = makeFolder(t)
  const file = (name: string): string => join(folder, name)
  const [cert, key] = [file('tls.crt'), file('tls.key')]
  const renew = (forDays: number): void => {
    const what = ['-key', key, '-days', String(forDays), '-subj', '/CN=gateway']
    openssl('req', '-x509', ...what, '-addext', 'subjectAltName=IP:127.0.0.1', '-out', `${cert}.new`)
    renameSync(`${cert}.new`, cert)
  }
  makeKey(key)
  renew(days)
  return {
    cert,
    key,
    renew,
    swapKey: () => {
      copyFileSync(key, `${key}.right`)
      makeKey(`${key}.new`)
      renameSync(`${key}.new`, key)
      return () => renameSync(`${key}.right`, key)
    },
  }
}

function makeKey(file: string): void {
  openssl('ecparam', '-genkey', '-name', 'prime256v1', '-noout', '-out', file)
}

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' })
}
