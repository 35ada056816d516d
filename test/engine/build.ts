import { execFile } from 'node:child_process'
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { RELEASES, type Release } from '../../src/operations/published/releases.ts'

/** Engines that the tests build. The table describes the published API of `camunda`. */
export const FAMILIES = ['camunda', 'camunda-7.24.0', 'operaton'] as const
export type Family = (typeof FAMILIES)[number]

/** The engine of a test that does not choose one. */
export const DEFAULT_FAMILY: Family = 'camunda'

/** The version of each engine, as on Maven Central. */
export const VERSIONS = {
  camunda: 'Camunda 7.22.0',
  'camunda-7.24.0': 'Camunda 7.24.0',
  operaton: 'Operaton 1.0.3',
} as const satisfies Readonly<Record<Family, string>>

/** Returns the release to which the version of an engine belongs. */
export function releaseOf(family: Family): Release {
  const release = RELEASES.find((one) => VERSIONS[family].startsWith(`${one}.`))
  if (release === undefined) throw new Error(`The release of ${family} is not known`)
  return release
}

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const app = join(import.meta.dirname, 'app')
const javaClient = join(import.meta.dirname, 'java-client')
const pythonClient = join(import.meta.dirname, 'python-client')
const target = join(app, 'target')

export interface BuiltEngine {
  readonly jar: string
  /**
   * The archive of the classes that the engine loads while it starts. With it, a start needs a third less CPU time. Null with the web
   * applications.
   */
  readonly classes: string | null
}

/** Builds an engine if it is missing or older than its sources. `hasWeb` includes the web applications. */
export async function buildEngine(family: Family, hasWeb = false): Promise<BuiltEngine> {
  if (hasWeb) return { jar: await buildWebEngine(family), classes: null }
  const folder = join(target, family)
  const unpacked = join(folder, 'unpacked')
  const jar = join(unpacked, 'engine.jar')
  const classes = await built(join(folder, 'engine.jsa'), inputsOf(app), async () => {
    await maven(app, argsOf(family, folder))
    // Java cannot archive classes of jars inside a jar.
    await run('java', ['-Djarmode=tools', '-jar', join(folder, 'engine.jar'), ...unpackTo(unpacked)])
    rmSync(join(folder, 'engine.jsa'), { force: true })
    const record = [`-XX:ArchiveClassesAtExit=${join(folder, 'engine.jsa')}`, ...JVM_OPTIONS]
    await run('java', [
      ...record,
      '-jar',
      jar,
      '--server.port=0',
      '--gateway.secured=true',
      '--gateway.stop=true',
    ])
  })
  return { jar, classes }
}

/** The web applications need the jar as Maven packs it: from an unpacked jar, their pages fail before the login. */
function buildWebEngine(family: Family): Promise<string> {
  const folder = join(target, `${family}-web`)
  const args = [...argsOf(family, folder), '-Pweb']
  return built(join(folder, 'engine.jar'), inputsOf(app), () => maven(app, args))
}

/** Options of the virtual machine with which an engine starts. An archive of classes is valid for its garbage collector only. */
export const JVM_OPTIONS = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']

function unpackTo(folder: string): readonly string[] {
  return ['extract', '--force', '--destination', folder]
}

/** Returns the jar of a worker that uses the Java client, built in the same way. */
export function buildJavaClient(): Promise<string> {
  const folder = join(target, 'java-client')
  return built(join(folder, 'client.jar'), inputsOf(javaClient), () => maven(javaClient, packageTo(folder)))
}

/** Returns the Python interpreter of a virtual environment that has the Python client, built in the same way. */
export async function buildPythonClient(): Promise<string> {
  const folder = join(target, 'python-client')
  const requirements = join(pythonClient, 'requirements.txt')
  await built(join(folder, 'installed'), [requirements], async () => {
    await run('python3', ['-m', 'venv', folder])
    await run(join(folder, 'bin', 'pip'), ['install', '-q', '-r', requirements])
    writeFileSync(join(folder, 'installed'), '')
  })
  return join(folder, 'bin', 'python')
}

/** Downloads the war of CIB seven's web client. It is a separate process that uses the REST API of an engine. */
export function fetchWebClient(): Promise<string> {
  const folder = join(target, 'web-client')
  const artifact = 'org.cibseven.webapp:cibseven-webclient-web:2.1.0:war'
  const args = ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`]
  return built(join(folder, 'cibseven-webclient-web.war'), [join(app, 'pom.xml')], () =>
    maven(app, [...args, '-Dmdep.stripVersion=true']),
  )
}

/** Returns the gateway's main file, compiled as for the image. */
export function buildGateway(): Promise<string> {
  const folder = join(target, 'gateway')
  const inputs = [join(root, 'tsconfig.build.json'), ...filesIn(join(root, 'src'))]
  return built(join(folder, 'dist', 'main.js'), inputs, async () => {
    copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
    const compile = [join(root, 'node_modules', '.bin', 'tsc'), '-p', 'tsconfig.build.json']
    // Removes the loaders that the test runner passes to the processes of a test.
    const args = ['-u', 'NODE_OPTIONS', ...compile, '--outDir', join(folder, 'dist')]
    await run('env', args, { cwd: root })
  })
}

/** Makes a file if it is missing or older than its inputs. Returns the file. */
async function built(file: string, inputs: readonly string[], make: () => Promise<unknown>): Promise<string> {
  if (isFresh(file, inputs)) return file
  mkdirSync(target, { recursive: true })
  const [name = ''] = file.slice(target.length + 1).split(sep)
  const unlock = await lock(join(target, `${name}.lock`))
  try {
    mkdirSync(join(target, name), { recursive: true })
    if (!isFresh(file, inputs)) await make()
  } finally {
    unlock()
  }
  return file
}

function maven(module: string, args: readonly string[]): Promise<unknown> {
  return run('mvn', args, { cwd: module })
}

function packageTo(folder: string): readonly string[] {
  return ['-q', '-B', 'package', `-Dapp.target=${folder}`]
}

function argsOf(family: Family, folder: string): readonly string[] {
  const [, version = ''] = VERSIONS[family].split(' ')
  const args = [...packageTo(folder), `-Dfamily.version=${version}`]
  if (family !== 'operaton') return args
  return [
    ...args,
    '-Dfamily.group=org.operaton.bpm.springboot',
    '-Dfamily.starter=operaton-bpm-spring-boot-starter-rest',
    '-Dfamily.webapp=operaton-bpm-spring-boot-starter-webapp',
    '-Dspring-boot.version=3.5.6',
    `-Dapp.source=${translate(join(folder, 'translated'))}`,
  ]
}

// Operaton is the same engine with other package and property names.
function translate(folder: string): string {
  const sources = sourcesOf(app)
  rmSync(folder, { recursive: true, force: true })
  for (const file of filesIn(sources)) {
    const copy = join(folder, file.slice(sources.length))
    mkdirSync(dirname(copy), { recursive: true })
    writeFileSync(copy, readFileSync(file, 'utf8').replaceAll('camunda.bpm', 'operaton.bpm'))
  }
  return folder
}

function isFresh(file: string, inputs: readonly string[]): boolean {
  const builtAtMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return inputs.every((input) => statSync(input).mtimeMs < builtAtMs)
}

function inputsOf(module: string): readonly string[] {
  return [join(module, 'pom.xml'), ...filesIn(sourcesOf(module))]
}

function sourcesOf(module: string): string {
  return join(module, 'src', 'main')
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** Takes a lock file. Test files run as parallel processes: one of them builds, and the others wait. */
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

// A link, unlike an opened file, appears together with its content, so a lock always names its owner.
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
