import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { chooseLanguage, fillPlurals, LANGUAGES } from '@/lib/i18n'

type Tree = { [key: string]: string | Tree }
const here = import.meta.dirname
const read = (name: string) => JSON.parse(readFileSync(join(here, `${name}.json`), 'utf8')) as Tree
const flat = (tree: Tree, prefix = ''): Array<[string, string]> => Object.entries(tree).flatMap(([key, value]) => (typeof value === 'string' ? [[prefix + key, value] as [string, string]] : flat(value, `${prefix}${key}.`)))
const bare = (key: string) => key.replace(/_(zero|one|two|few|many|other)$/, '')
const keysOf = (tree: Tree) => [...new Set(flat(tree).map(([key]) => bare(key)))].sort()
const slots = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1]).sort()
const english = read('en')

it.each(Object.keys(LANGUAGES))('%s says everything that English says', (language) => {
  const words = read(language)
  expect(keysOf(words)).toEqual(keysOf(english))
  const known = new Map(flat(english))
  for (const [key, text] of flat(words)) {
    expect(text.trim(), key).not.toBe('')
    const original = known.get(key) ?? known.get(`${bare(key)}_other`) ?? known.get(bare(key)) ?? ''
    // A form for exactly one or two may say the number in words.
    expect(slots(original), key).toEqual(expect.arrayContaining(slots(text)))
    if (!/_(zero|one|two)$/.test(key)) expect(slots(text), key).toEqual(slots(original))
  }
})

it.each(Object.keys(LANGUAGES))('%s has a form for every count', (language) => {
  const words = fillPlurals(read(language), language)
  const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories
  const keys = new Set(flat(words as Tree).map(([key]) => key))
  for (const key of keys) if (key.endsWith('_other')) for (const form of forms) expect(keys).toContain(`${bare(key)}_${form}`)
})

it('has every text that the pages ask for', () => {
  const keys = new Set(keysOf(english))
  const sources = readdirSync(join(here, '..'), { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name) && !name.includes('.test.'))
  const asked = new Set(sources.flatMap((name) => [...readFileSync(join(here, '..', name), 'utf8').matchAll(/\bt\('([\w.]+)'/g)].map((match) => match[1] ?? '')))
  expect(asked.size).toBeGreaterThan(150)
  for (const key of asked) expect(keys, key).toContain(key)
})

it('chooses the language of the browser', () => {
  expect(chooseLanguage(null, ['zh-Hant-TW'])).toBe('zh-TW')
  expect(chooseLanguage(null, ['zh'])).toBe('zh-CN')
  expect(chooseLanguage(null, ['pt-BR', 'nl-BE'])).toBe('nl')
  expect(chooseLanguage('ar', ['en'])).toBe('ar')
  expect(chooseLanguage(null, ['pt'])).toBe('en')
})
