import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import english from '../locales/en.json'

export const LANGUAGES = {
  en: 'English', nl: 'Nederlands', de: 'Deutsch', fr: 'Français', es: 'Español',
  'zh-CN': '简体中文', 'zh-TW': '繁體中文', ja: '日本語', ko: '한국어', ar: 'العربية',
} as const

export type Language = keyof typeof LANGUAGES
const NAME = 'lightrag.language'
// English is part of the first script: whatever cannot be fetched, there are words to say so.
const files = import.meta.glob<{ default: Words }>(['../locales/*.json', '!../locales/en.json'])

/** Returns the language that fits best: the chosen one, else the first of the browser that we have. */
export function chooseLanguage(stored: string | null, wanted: readonly string[]): Language {
  for (const name of [stored, ...wanted]) {
    if (!name) continue
    if (name in LANGUAGES) return name as Language
    if (/^zh(-|$)/i.test(name)) return /hant|tw|hk|mo/i.test(name) ? 'zh-TW' : 'zh-CN'
    const base = name.split('-')[0]
    if (base && base in LANGUAGES) return base as Language
  }
  return 'en'
}

type Words = { [key: string]: string | Words }

/** Gives every text that depends on a count a form for each count of the language; a form that is not written is the general one. */
export function fillPlurals(words: Words, language: string): Words {
  const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories
  const filled: Words = {}
  for (const [key, value] of Object.entries(words)) {
    if (typeof value !== 'string') {
      filled[key] = fillPlurals(value, language)
      continue
    }
    filled[key] = value
    if (key.endsWith('_other')) for (const form of forms) filled[key.replace(/other$/, form)] ??= words[key.replace(/other$/, form)] ?? value
  }
  return filled
}

async function load(language: Language): Promise<void> {
  if (i18next.hasResourceBundle(language, 'translation')) return
  const file = await files[`../locales/${language}.json`]?.().catch(() => null)
  if (file) i18next.addResourceBundle(language, 'translation', fillPlurals(file.default, language))
}

function applyToPage(language: Language): void {
  document.documentElement.lang = language
  document.documentElement.dir = i18next.dir(language)
}

export async function setLanguage(language: Language): Promise<void> {
  await load(language)
  try {
    localStorage.setItem(NAME, language)
  } catch {
    // Without storage it holds for this visit.
  }
  await i18next.changeLanguage(language)
  applyToPage(language)
}

export async function startI18n(): Promise<void> {
  let stored: string | null = null
  try {
    stored = localStorage.getItem(NAME)
  } catch {
    // As if nothing had been chosen.
  }
  const language = chooseLanguage(stored, navigator.languages)
  await i18next.use(initReactI18next).init({
    lng: 'en', fallbackLng: 'en', resources: { en: { translation: fillPlurals(english, 'en') } }, interpolation: { escapeValue: false }, partialBundledLanguages: true,
  })
  await load(language)
  await i18next.changeLanguage(language)
  applyToPage(language)
}
