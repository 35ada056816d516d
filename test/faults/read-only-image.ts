import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
/** The configuration folder in the image. */
export const CONFIG_FOLDER = 'etc/engine-gateway'

/** The root file system of the image, built without Docker. */
export interface Image {
  readonly root: string
  /** User, environment and entry point in the configuration of the image. */
  readonly user: string
  readonly env: string
  readonly entrypoint: readonly string[]
}

/**
 * Executes the steps of the Dockerfile in two folders of `folder`. The base image is the system of this machine with
 * the Node.js that runs the test. This needs the permission to mount, and what `npm ci` needs.
 * @throws if a step fails or its kind is unknown
 */
export function buildImage(folder: string): Image {
  const stages: Stages = { build: join(folder, 'build'), final: join(folder, 'final') }
  makeSystem(stages.final)
  let stage: keyof Stages | null = null
  const told = { USER: '', ENV: '', ENTRYPOINT: '[]' }
  for (const line of readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split('\n')) {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (name === 'FROM') stage = stage === null ? 'build' : 'final'
    else if (name === 'USER' || name === 'ENV' || name === 'ENTRYPOINT') told[name] = rest
    else if (stage !== null) doStep(name, rest, stages, stage)
  }
  return { root: stages.final, user: told.USER, env: told.ENV, entrypoint: JSON.parse(told.ENTRYPOINT) }
}

interface Stages {
  readonly build: string
  readonly final: string
}

function doStep(name: string, rest: string, stages: Stages, stage: keyof Stages): void {
  const root = stages[stage]
  if (name === 'WORKDIR') mkdirSync(join(root, rest), { recursive: true })
  else if (name === 'COPY') copy(rest, stages.build, root)
  else if (name === 'RUN') runStep(rest, root, stage === 'final')
  else if (name !== '' && name !== 'EXPOSE') throw new Error(`the Dockerfile has a step ${name}`)
}

/**
 * Returns the arguments of `spawn` that run a command in the image with the chart's security contexts: its own user,
 * nothing writable, no capability.
 */
export function commandIn({ root, user, env }: Image, command: readonly string[]): readonly string[] {
  const [uid = '', gid = ''] = user.split(':')
  const ids = ['--reuid', uid, '--regid', gid, '--clear-groups']
  const rights = ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all']
  const inside = ['setpriv', ...ids, ...rights, 'sh', '-c', 'cd /app && exec "$@"', 'sh', ...command]
  return unshared(root, true, ['env', '-i', `PATH=${PATH}`, env, ...inside])
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

const MOUNT = `set -e
mount --bind "$0" "$0"
for folder in bin sbin lib lib64; do
  [ ! -d "/usr/$folder" ] || mount --bind -o ro "/usr/$folder" "$0/usr/$folder"
done
mount --bind -o ro "$1" "$0/usr/local/bin/node"
mount --bind /dev "$0/dev"
mount -t proc proc "$0/proc"
[ "$2" != true ] || mount -o remount,bind,ro "$0"
shift 2
exec chroot "$0" "$@"`

/** Returns a command that runs as process 1 of a system below `root`. */
function unshared(root: string, isReadOnly: boolean, command: readonly string[]): readonly string[] {
  const spaces = ['unshare', '--mount', '--pid', '--fork', '--kill-child']
  return [...spaces, 'sh', '-c', MOUNT, root, process.execPath, String(isReadOnly), ...command]
}

function makeSystem(root: string): void {
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(join(root, 'usr', name), { recursive: true })
    symlinkSync(`usr/${name}`, join(root, name))
  }
  for (const name of ['usr/local/bin', 'dev', 'proc', 'tmp', CONFIG_FOLDER])
    mkdirSync(join(root, name), { recursive: true })
  // Every user could write here if the mount were not read-only.
  chmodSync(join(root, 'tmp'), 0o1777)
  writeFileSync(join(root, 'usr/local/bin/node'), '')
}

/** Executes `COPY a b ./`, `COPY src src` or `COPY --from=build /app/dist dist`. */
function copy(rest: string, build: string, root: string): void {
  const words = rest.split(' ')
  const isBuilt = words[0] === '--from=build'
  const sources = words.slice(isBuilt ? 1 : 0, -1)
  const target = words.at(-1) ?? ''
  for (const source of sources) {
    if (!isBuilt && !isSent(source)) throw new Error(`.dockerignore leaves out ${source}`)
    const to = join(root, 'app', target, target.endsWith('/') ? basename(source) : '')
    cpSync(join(isBuilt ? build : ROOT, source), to, { recursive: true, verbatimSymlinks: true })
  }
}

function isSent(file: string): boolean {
  return readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n').includes(`!${file}`)
}

/**
 * Runs a step. In the last stage, the image is the root. In the stage before, which installs the packages, the step
 * runs in the folder of the stage.
 */
function runStep(command: string, root: string, isFinal: boolean): void {
  const [program = '', ...args] = isFinal
    ? unshared(root, false, ['sh', '-c', `cd /app && ${command}`])
    : ['sh', '-c', `cd '${root}/app' && ${command}`]
  const path = `PATH=${dirname(process.execPath)}:${PATH}`
  execFileSync('env', ['-u', 'NODE_OPTIONS', path, program, ...args], { stdio: 'pipe' })
}
