import { type Answer, type Ask, jsonOf, type Send } from './http.ts'
import { isRead, type Plan } from './plan.ts'

/** Returns whether the pages of a list make up the whole list. Without a sort, an engine returns items in the order of their ids. */
export function isPageable(plan: Plan): boolean {
  const { items } = plan.operation
  const asked = `${plan.path} ${JSON.stringify(plan.body ?? '')}`
  const isList = items !== undefined && items.form === undefined && items.paging !== 'ignored'
  return isList && plan.kind === 'plain' && isRead(plan) && !/firstResult|maxResults|sort/.test(asked)
}

/** Requests one page after the other. Resolves to a response with the items of all pages, or to the first response that is not a page. */
export async function sendPaged(
  send: (ask: Ask) => ReturnType<Send>,
  ask: Ask,
  size: number,
): Promise<Answer> {
  const rows: unknown[] = []
  const mark = ask.path.includes('?') ? '&' : '?'
  for (;;) {
    const path = `${ask.path}${mark}firstResult=${rows.length}&maxResults=${size}`
    const answer = await send({ ...ask, path })
    const page = answer.status === 200 && answer.type.includes('json') ? jsonOf(answer) : null
    if (!Array.isArray(page)) return answer
    rows.push(...page)
    if (page.length !== size) return { ...answer, bytes: Buffer.from(JSON.stringify(rows)) }
  }
}
