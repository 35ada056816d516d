import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { openWatchedFile, type WatchedFileOptions } from '../../src/files/watched-file.ts'
import { until } from '../support/cache-harness.ts'
import { createFakeTime } from '../support/fake-time.ts'

const parse = (content: Buffer): string => {
  const text = content.toString('utf8')
  if (!/^\w+\n?$/.test(text)) throw new Error('not one word')
  return text.trim()
}

async function folderOf(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-'))
  t.teardown(() => rm(folder, { recursive: true }))
  return folder
}

async function open(t: Test, options: Partial<WatchedFileOptions<string>> = {}) {
  const time = createFakeTime()
  const path = join(await folderOf(t), 'users.yaml')
  await writeFile(path, 'one\n')
  const looks: (string | null)[] = []
  const file = await openWatchedFile({
    path,
    parse,
    staleAfterMs: 60_000,
    onLook: (problem) => void looks.push(problem),
    now: time.now,
    schedule: time.schedule,
    ...options,
  })
  t.teardown(() => file.close())
  /** Checks the file twice, with enough time between the checks. */
  const lookTwice = async () => {
    await file.look()
    time.advance(200)
    await file.look()
  }
  return { path, file, time, looks, lookTwice }
}

t.test('a watched file must be valid when it is opened', async (t) => {
  const path = join(await folderOf(t), 'users.yaml')
  await t.rejects(openWatchedFile({ path, parse, staleAfterMs: 1 }), { code: 'ENOENT' })
  await writeFile(path, 'two words')
  await t.rejects(openWatchedFile({ path, parse, staleAfterMs: 1 }), { message: 'not one word' })
})

t.test('a change is read when the file has been unchanged for 200 ms', async (t) => {
  const { path, file, time, looks } = await open(t)
  await writeFile(path, 'two\n')
  await file.look()
  t.equal(file.current(), 'one', 'it may not be whole yet')
  time.advance(199)
  await file.look()
  t.equal(file.current(), 'one')
  time.advance(1)
  await file.look()
  t.equal(file.current(), 'two')
  t.same(looks, [null])
})

t.test('while a new content is parsed, the previous content is in force', async (t) => {
  const gate = Promise.withResolvers<string>()
  const results: (string | Promise<string>)[] = ['one', gate.promise]
  const { path, file, time, looks } = await open(t, { parse: () => results.shift() ?? 'none' })
  await writeFile(path, 'two\n')
  await file.look()
  time.advance(200)
  const look = file.look()
  while (results.length > 0) await wait(1)
  t.equal(file.current(), 'one')
  gate.resolve('two')
  await look
  t.equal(file.current(), 'two')
  t.same(looks, [null])
})

t.test('parsing that fails after the end is not reported', async (t) => {
  const gate = Promise.withResolvers<string>()
  const results: (string | Promise<string>)[] = ['one', gate.promise]
  const { path, file, time, looks } = await open(t, { parse: () => results.shift() ?? 'none' })
  await writeFile(path, 'two\n')
  await file.look()
  time.advance(200)
  const look = file.look()
  while (results.length > 0) await wait(1)
  file.close()
  gate.reject(new Error('the thread ended'))
  await look
  t.same(looks, [])
  t.equal(file.state().problem, null)
})

t.test('each write to the file restarts the waiting time', async (t) => {
  const { path, file, time } = await open(t)
  for (const text of ['t', 'tw', 'two\n']) {
    await writeFile(path, text)
    await file.look()
    time.advance(199)
  }
  t.equal(file.current(), 'one')
  time.advance(1)
  await file.look()
  t.equal(file.current(), 'two')
})

t.test('a file without a final newline may be incomplete, so it is read after a longer wait', async (t) => {
  const { path, file, time, lookTwice } = await open(t)
  await writeFile(path, 'tw')
  await lookTwice()
  t.equal(file.current(), 'one')
  time.advance(4_800)
  await file.look()
  t.equal(file.current(), 'tw')
})

t.test(
  'invalid content is reported once, and the previous content remains in force without a time limit',
  async (t) => {
    const { path, file, time, looks, lookTwice } = await open(t)
    await writeFile(path, 'two words\n')
    await lookTwice()
    time.advance(3_600_000)
    await lookTwice()
    t.equal(file.current(), 'one')
    t.same(looks, ['not one word'])
    t.match(file.state(), { problem: 'not one word', ageMs: 3_600_400 })
    await writeFile(path, 'three\n')
    await lookTwice()
    t.equal(file.current(), 'three')
    t.same(looks, ['not one word', null])
    t.same(file.state(), { problem: null, ageMs: 0 })
  },
)

t.test('a file that is restored is in force as before', async (t) => {
  const { path, file, looks, lookTwice } = await open(t)
  await rename(path, `${path}.old`)
  await writeFile(path, 'two words\n')
  await lookTwice()
  await rename(`${path}.old`, path)
  await lookTwice()
  t.equal(file.current(), 'one')
  t.match(looks, ['not one word', null])
})

t.test('the content of a missing file expires after a while', async (t) => {
  const { path, file, time, looks, lookTwice } = await open(t)
  await rm(path)
  await file.look()
  t.match(looks, [/ENOENT/])
  time.advance(60_000)
  await file.look()
  t.equal(file.current(), 'one')
  time.advance(1)
  t.equal(file.current(), null)
  await writeFile(path, 'two words\n')
  await lookTwice()
  t.equal(file.current(), null, 'a bad one does not bring it back')
  await writeFile(path, 'two\n')
  await lookTwice()
  t.equal(file.current(), 'two')
})

t.test('a replaced file with the same length and time is detected as new', async (t) => {
  const { path, file, lookTwice } = await open(t)
  await writeFile(path, 'two\n')
  await lookTwice()
  await writeFile(`${path}.new`, 'six\n')
  await rename(`${path}.new`, path)
  await lookTwice()
  t.equal(file.current(), 'six')
})

t.test('the file is checked every five seconds without any event', async (t) => {
  const { file, time } = await open(t)
  file.start()
  time.advance(0)
  for (let look = 0; look < 3; look += 1) {
    while (time.nextMs() === null) await wait(1)
    t.equal(time.nextMs(), 5_000)
    time.advance(5_000)
  }
})

t.test('the swap of the symbolic link of a Kubernetes volume takes effect within a second', async (t) => {
  const folder = await folderOf(t)
  const put = async (version: string) => {
    await mkdir(join(folder, version))
    await writeFile(join(folder, version, 'users.yaml'), `${version}\n`)
    await symlink(version, join(folder, '..data_tmp'))
    await rename(join(folder, '..data_tmp'), join(folder, '..data'))
  }
  await put('one')
  const path = join(folder, 'users.yaml')
  await symlink(join('..data', 'users.yaml'), path)
  // The change must be found by an event: polling is too late here.
  const file = await openWatchedFile({ path, parse, staleAfterMs: 600_000, pollMs: 600_000 })
  t.teardown(() => file.close())
  file.start()
  await file.look()
  await put('two')
  await until(() => file.current() === 'two')
})

t.test('a folder that cannot be watched is still polled', async (t) => {
  const { path, file, time } = await open(t)
  await rm(path)
  await rename(join(path, '..'), `${join(path, '..')}.away`)
  file.start()
  time.advance(0)
  await file.look()
  t.match(file.state().problem, /ENOENT/)
  await rename(`${join(path, '..')}.away`, join(path, '..'))
})
