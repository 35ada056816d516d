import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Call } from './seed.ts'

const resources = join(import.meta.dirname, 'resources')

/** Deploys missing resources. Each deployment is compared with the last one of its name. */
export async function deployAll(call: Call): Promise<void> {
  await deploy(call, 'review', ['review.bpmn'])
  await deploy(call, 'waiting', ['catching.bpmn', 'external.bpmn', 'signal-started.bpmn'])
  await deploy(call, 'discount', ['discount.dmn', 'discount.png'])
  await deploy(call, 'moving-1', ['moving-1.bpmn'])
  await deploy(call, 'moving-2', ['moving-2.bpmn'])
  await deployForTenant(call)
}

async function deploy(call: Call, name: string, files: readonly string[]): Promise<void> {
  const form = formOf(name)
  for (const file of files) form.append(file, new Blob([await readFile(join(resources, file))]), file)
  await call('POST', '/deployment/create', form)
}

/** Deploys the process 'review' again, as 'tenantReview' of the tenant 'acme'. */
async function deployForTenant(call: Call): Promise<void> {
  const form = formOf('tenant-review')
  form.append('tenant-id', 'acme')
  const review = await readFile(join(resources, 'review.bpmn'), 'utf8')
  const tenantReview = review.replace('process id="review"', 'process id="tenantReview"')
  form.append('tenant-review.bpmn', new Blob([tenantReview]), 'tenant-review.bpmn')
  await call('POST', '/deployment/create', form)
}

function formOf(name: string): FormData {
  const form = new FormData()
  form.append('deployment-name', name)
  form.append('enable-duplicate-filtering', 'true')
  return form
}
