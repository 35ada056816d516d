import type { Config } from '../config/config.ts'
import { certificateEndOf, certificateFilesOf, tlsFilesOf, tlsProblemsOf } from '../config/tls-files.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { WatchedNodes } from './running-nodes.ts'
import type { Component } from '../component.ts'

/** A scrape reads the files again if the last read is older than this. */
const READ_AGAIN_MS = 10_000

/** Creates the gauges for the expiry of certificates, both from files and from the nodes' TLS connections. */
export function createCertificateGauges(
  config: Config,
  nodes: readonly Pick<WatchedNodes, 'own'>[],
): Component {
  const files = rememberFor(READ_AGAIN_MS, () => readFiles(config))
  return { activate: (metrics) => addGauges(metrics, files, nodes) }
}

function addGauges(
  metrics: Metrics,
  files: () => ReturnType<typeof readFiles>,
  nodes: readonly Pick<WatchedNodes, 'own'>[],
): void {
  metrics.gauges(
    {
      name: 'gateway_certificate_expiry_timestamp_seconds',
      help: 'Time at which a certificate expires, in seconds since 1970. The label is the key of a file in the configuration, or the URL of a node.',
      labels: ['certificate'],
    },
    () => [
      ...files().ends.map(({ path, endsAtMs }) => ({
        labels: { certificate: path },
        value: secondsOf(endsAtMs),
      })),
      ...nodes.flatMap(({ own }) =>
        own.nodes().map(({ node, certificateEndsAtMs }) => ({
          labels: { certificate: node },
          value: secondsOf(certificateEndsAtMs),
        })),
      ),
    ],
  )
  metrics.gauges(
    {
      name: 'gateway_tls_files_valid',
      help: 'Whether the current files of certificates and keys can be used. 0: the files that were read before are still used.',
      labels: ['section'],
    },
    () => files().valid.map(({ section, isValid }) => ({ labels: { section }, value: Number(isValid) })),
  )
}

function readFiles(config: Config) {
  return {
    ends: certificateFilesOf(config).map(({ path, file }) => ({ path, endsAtMs: certificateEndOf(file) })),
    valid: [...tlsFilesOf(config)].map(([section, tls]) => ({
      section,
      isValid: tlsProblemsOf(section, tls).length === 0,
    })),
  }
}

function secondsOf(ms: number | null): number | null {
  return ms === null ? null : ms / 1000
}

function rememberFor<T>(ms: number, read: () => T): () => T {
  let latest: { readonly value: T; readonly atMs: number } | null = null
  return () => {
    const nowMs = performance.now()
    if (latest === null || nowMs - latest.atMs > ms) latest = { value: read(), atMs: nowMs }
    return latest.value
  }
}
