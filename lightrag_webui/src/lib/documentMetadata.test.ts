import { expect, it } from 'vitest'
import { getDocumentMetaHref, getDocumentTitle } from './documentMetadata'

it.each(['https://example.org', 'http://example.org/a?b=c#d', '  https://example.org/x  ', 'HTTPS://EXAMPLE.org'])('links %s', (href) => {
  expect(getDocumentMetaHref({ href })).toBe(href.trim())
})

it.each([
  'javascript:alert(1)', 'JavaScript:alert(1)', ' javascript:alert(1)', 'java\nscript:alert(1)', 'data:text/html,x', 'vbscript:x', 'file:///etc/passwd', 'ftp://example.org',
  '//example.org', '/relative', 'example.org', 'https:example.org', 'https:/example.org', 'https://', 'https:///x', 'https:\\\\example.org', 'https://exa mple.org', 'https://example.org/\u0000', '', '   ',
])('does not link %j', (href) => {
  expect(getDocumentMetaHref({ href })).toBeNull()
})

it('links nothing that is no text, and nothing nested', () => {
  for (const href of [1, true, null, undefined, ['https://a.b'], { href: 'https://a.b' }]) expect(getDocumentMetaHref({ href })).toBeNull()
  expect(getDocumentMetaHref(undefined)).toBeNull()
  expect(getDocumentMetaHref(null)).toBeNull()
  expect(getDocumentMetaHref({ links: { href: 'https://a.b' } })).toBeNull()
})

it('names a document by its title, else by its file', () => {
  expect(getDocumentTitle({ file_path: 'a/b.md', meta: { title: ' T ' } })).toBe('T')
  expect(getDocumentTitle({ file_path: 'a/b.md', meta: { title: 3 } })).toBe('b.md')
})
