import { execFile } from 'node:child_process'
import { linkSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

export type Family = 'camunda' | 'operaton'

const app = join(import.meta.dirname, 'app')
const target = join(app, 'target')
const sources = join(app, 'src', 'main')

/** The engine's jar, built by Maven when it is missing or older than its sources. */
export async function buildEngine(family: Family): Promise<string> {
  const folder = join(target, family)
  const jar = join(folder, 'engine.jar')
  if (isFresh(jar)) return jar
  mkdirSync(folder, { recursive: true })
  const unlock = await lock(join(target, `${family}.lock`))
  try {
    if (!isFresh(jar)) await promisify(execFile)('mvn', argsOf(family, folder), { cwd: app })
  } finally {
    unlock()
  }
  return jar
}

function argsOf(family: Family, folder: string): string[] {
  const args = ['-q', '-B', 'package', `-Dapp.target=${folder}`]
  if (family === 'camunda') return args
  return [
    ...args,
    '-Dfamily.group=org.operaton.bpm.springboot',
    '-Dfamily.starter=operaton-bpm-spring-boot-starter-rest',
    '-Dfamily.version=1.0.3',
    '-Dspring-boot.version=3.5.6',
    `-Dapp.source=${translate(join(folder, 'translated'))}`,
  ]
}

// Operaton is the same engine under other package and property names.
function translate(folder: string): string {
  rmSync(folder, { recursive: true, force: true })
  for (const file of filesIn(sources)) {
    const copy = join(folder, file.slice(sources.length))
    mkdirSync(dirname(copy), { recursive: true })
    writeFileSync(copy, readFileSync(file, 'utf8').replaceAll('camunda.bpm', 'operaton.bpm'))
  }
  return folder
}

function isFresh(jar: string): boolean {
  const built = statSync(jar, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return [join(app, 'pom.xml'), ...filesIn(sources)].every((file) => statSync(file).mtimeMs < built)
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** Test files run as processes side by side: one of them builds, the others wait. */
async function lock(file: string): Promise<() => void> {
  const claim = `${file}.${process.pid}`
  writeFileSync(claim, String(process.pid))
  while (!isLinked(claim, file)) {
    if (isAbandoned(file)) rmSync(file, { force: true })
    await delay(200)
  }
  rmSync(claim)
  return () => rmSync(file, { force: true })
}

// A link, unlike an open file, appears with its content: no one reads a lock without an owner.
function isLinked(claim: string, file: string): boolean {
  try {
    linkSync(claim, file)
    return true
  } catch {
    return false
  }
}

function isAbandoned(file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0)
    return false
  } catch {
    return true
  }
}
