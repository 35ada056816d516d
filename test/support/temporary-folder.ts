import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** Makes a new folder that is removed at the end of the test. `t.testdir` would empty the folder that it made before. */
export function makeFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'engine-gateway-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
