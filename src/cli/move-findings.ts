import type { MoveCheck } from '../assembly/runtime.ts'
import { isObstacle, type MoveFinding } from '../move/move-finding.ts'
import { counted } from '../pipeline/plural.ts'
import { createProgress } from './with-engine.ts'

export interface EngineFinding extends MoveFinding {
  readonly engine: string
}

/** Runs the checks of engines one after the other. Progress goes to standard error. */
export async function findObstacles(
  checks: readonly MoveCheck[],
  withinMs: number,
  stderr: { readonly write: (text: string) => unknown },
): Promise<readonly EngineFinding[]> {
  const onProgress = createProgress((text) => void stderr.write(text))
  const findings: EngineFinding[] = []
  for (const { engine, run } of checks) {
    const found = await run({ withinMs, onProgress })
    findings.push(...found.map((finding) => ({ engine, ...finding })))
  }
  return findings
}

export function hasObstacle(findings: readonly EngineFinding[]): boolean {
  return findings.some(isObstacle)
}

/** Returns the lines of all findings, the most severe ones first, and their number. */
export function findingLines(findings: readonly EngineFinding[]): readonly string[] {
  const ordered = (['error', 'warning', 'info'] as const).flatMap((severity) =>
    findings.filter((finding) => finding.severity === severity),
  )
  const obstacles = findings.filter(isObstacle).length
  return [
    ...ordered.flatMap(({ engine, severity, subject, group, found, action }) => [
      `${severity}: ${engine}${group === null ? '' : `, group ${group}`}: ${subject}: ${found}`,
      ...(action === null ? [] : [`  to do: ${action}`]),
    ]),
    obstacles === 0 ? 'no obstacle was found' : `${counted(obstacles, 'obstacle')} found`,
  ]
}
