import type { OpenPage } from '../support/chromium.ts'

/** Leaves the page before first: what is asked of it would be answered by the wrong one, and another place of it is no new page. */
export async function openAt(page: OpenPage, url: string): Promise<void> {
  await page.send('Page.navigate', { url: 'about:blank' })
  await page.wait(`location.href === 'about:blank'`)
  await page.send('Page.navigate', { url })
}

/** Into the first that there is, as a keyboard does it. */
export async function type(page: OpenPage, selector: string, text: string): Promise<void> {
  await page.read(`{
    const input = document.querySelector(${JSON.stringify(selector)})
    input.value = ${JSON.stringify(text)}
    for (const name of ['input', 'change']) input.dispatchEvent(new Event(name, { bubbles: true }))
  }`)
}

/** By its text or its title, once it is visible and can be used. */
export async function clickOn(page: OpenPage, selector: string, text: string): Promise<void> {
  const found = `[...document.querySelectorAll(${JSON.stringify(selector)})].findLast(
    (one) => one.offsetParent !== null && !one.disabled && (one.textContent + one.title).includes(${JSON.stringify(text)}))`
  await page.wait(`${found} !== undefined`)
  await page.read(`${found}.click()`)
}
