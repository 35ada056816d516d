import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** A folder of its own until the end of the test: `t.testdir` empties the one that it made before. */
export function makeFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'engine-gateway-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
