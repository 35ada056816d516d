import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { build } from '../../../src/assembly/build.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { helmSkip, kubernetesSkip } from '../../support/requirements.ts'
import {
  at,
  CHART,
  configFolderOf,
  CRDS,
  helm,
  type Json,
  listAt,
  objectsOf,
  podOf,
  runOn,
} from './render.ts'

const ROOT = join(CHART, '../..')
const EXAMPLES = globSync('helm/examples/*.yaml', { cwd: ROOT }).toSorted()
/** Content of the secrets of the examples, by environment variable of the container. */
const SECRETS = {
  ADMIN_TOKEN: 'a-token-of-this-test',
  REDIS_URL: 'rediss://gateway:secret@redis:6379/0',
  REDIS_SIGNING_KEY: 'k'.repeat(32),
}
const CLERKS = [{ id: 'mary', passwordHash: `$2b$10$${'a'.repeat(53)}`, groups: ['clerks'] }]
/** Options for critical findings of kube-score that are intended. docs/helm.md gives the reasons. */
const CHOSEN = ['--ignore-container-cpu-limit', '--ignore-test', 'container-image-pull-policy']

t.ok(EXAMPLES.length >= 5)

for (const example of EXAMPLES) {
  t.test(example, { skip: helmSkip }, async (t) => {
    const values = ['--namespace', 'gateway', '--values', join(ROOT, example)]
    t.doesNotThrow(() => helm('lint', '--strict', CHART, ...values), 'lint has no warning')
    const text = helm('template', 'gw', CHART, ...values)

    await t.test('the values render a valid configuration without a warning', async (t) => {
      const objects = objectsOf(text)
      const folder = configFolderOf(t, objects)
      writeFileSync(join(folder, 'users.yaml'), contentOf('users.yaml'))
      if (isMounted(objects, 'authorizations.yaml'))
        writeFileSync(join(folder, 'authorizations.yaml'), contentOf('authorizations.yaml'))
      moveSecrets(t, objects, folder)
      // As the command `check` does.
      const config = loadConfig(join(folder, 'gateway.yaml'), secretsOf(objects))
      const { close, questions } = await build({ config, log: pino({ level: 'silent' }), version: '0' })
      await close()
      t.same(questions.warnings, [])
    })

    await t.test('the rendered objects are valid in Kubernetes', { skip: kubernetesSkip() }, async (t) => {
      t.ok(existsSync(CRDS), 'helm/install-tools has made node_modules/.cache/crds')
      const { status, said } = runOn(t, text, 'kubectl-validate', '--local-crds', CRDS)
      t.equal(status, 0, said)
    })

    await t.test('kube-score reports nothing critical', { skip: kubernetesSkip() }, async (t) => {
      // The pod of `helm test` exits after its run.
      const pods = helm('template', 'gw', CHART, ...values, '--skip-tests')
      const { status, said } = runOn(t, pods, 'kube-score', 'score', ...CHOSEN)
      t.equal(status, 0, said)
      t.match(said, 'apps/v1/Deployment')
    })
  })
}

/** Returns whether the file is mounted from a secret of the operator. */
function isMounted(objects: readonly Json[], file: string): boolean {
  return listAt(podOf(objects), 'spec.volumes.0.projected.sources').some(
    (source) => at(source, 'secret.items.0.path') === file,
  )
}

function secretsOf(objects: readonly Json[]): NodeJS.ProcessEnv {
  const names = listAt(podOf(objects), 'spec.containers.0.env').map((one) => at(one, 'name'))
  return Object.fromEntries(Object.entries(SECRETS).filter(([name]) => names.includes(name)))
}

/** Returns the content of a file of a secret. */
function contentOf(name: string): string {
  if (name === 'users.yaml') return JSON.stringify({ users: CLERKS })
  if (name === 'authorizations.yaml') return JSON.stringify({ authorizations: [] })
  // As long as a signing key must be.
  return 's'.repeat(32)
}

/** Replaces files below /run/secrets in the configuration by files below its own folder. Checks that the pod mounts a secret for each. */
function moveSecrets(t: Test, objects: readonly Json[], folder: string): void {
  const mounted = listAt(podOf(objects), 'spec.containers.0.volumeMounts').map((one) => at(one, 'mountPath'))
  const file = join(folder, 'gateway.yaml')
  const text = readFileSync(file, 'utf8')
  for (const [, path = ''] of text.matchAll(/(?<=file: ?)(\/run\/secrets\/[\w./-]+)/g)) {
    t.ok(mounted.includes(dirname(path)), path)
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), contentOf(basename(path)))
  }
  writeFileSync(file, text.replaceAll(/(?<=file: ?)(?=\/run\/)/g, folder))
}
