import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { statementBefore, statementsOf } from './citations'
import AnswerMarkdown from './markdown'
import { prepareMarked, prepareMath } from './math'
import { findPlace, sentencesOf } from './passages'

afterEach(cleanup)

describe('formulas', () => {
  it.each([
    ['Euler: \\(e^{i\\pi}=-1\\).', 'Euler: $e^{i\\pi}=-1$.'],
    ['It cost $5, later $10.', 'It cost \\$5, later \\$10.'],
    ['Between $5 and $x^2$ lies', 'Between \\$5 and $x^2$ lies'],
    ['$x$ and $$y$$', '$x$ and $$y$$'],
    ['One \\$ is kept', 'One \\$ is kept'],
    ['`cost $5 $6` and $7', '`cost $5 $6` and \\$7'],
    ['```sh\necho $HOME $PATH \\(x\\)\n```\n$8', '```sh\necho $HOME $PATH \\(x\\)\n```\n\\$8'],
    ['```sh\necho $HOME', '```sh\necho $HOME'],
  ])('%j becomes %j', (text, expected) => {
    expect(prepareMath(text)).toBe(expected)
  })

  it('in brackets stand on lines of their own', () => {
    expect(prepareMath('So \\[ a+b \\] holds')).toBe('So \n$$\na+b\n$$\n holds')
  })

  it('do not move what is to be marked', () => {
    const text = 'Paid $5. The bridge opened. Then \\(x\\).'
    const start = text.indexOf('The bridge')
    const ready = prepareMarked(text, { start, end: start + 18 })
    expect(ready.text.slice(ready.span.start, ready.span.end)).toBe('The bridge opened.')
    expect(ready.text).toBe('Paid \\$5. The bridge opened. Then $x$.')
  })
})

describe('the statement before a citation', () => {
  it('is the last sentence, or the quotation', () => {
    expect(statementBefore('The dues rose in 1928. The bridge followed in 1934')).toBe('The bridge followed in 1934')
    expect(statementBefore('Earlier. “An Act to repeal the Act of 1903.” ')).toContain('repeal the Act of 1903')
    expect(statementBefore('It was built by Vellan Iron [1] and paid by the bank')).not.toContain('[1]')
  })

  it('is found for each time that a reference is named', () => {
    expect(statementsOf('- The harbour was deepened in that year [1]\n- The ferry stopped running for good [2][1]', '1')).toEqual(['- The harbour was deepened in that year', '- The ferry stopped running for good'])
  })

  it('goes along with the number that is chosen, through bold text too', () => {
    const open = vi.fn()
    render(<AnswerMarkdown text={'The **Vellan Vale Bank** was saved in October 1931 [1].'} ids={['1']} onReference={open} />)
    screen.getByRole('button', { name: '1' }).click()
    expect(open).toHaveBeenCalledWith('1', 'The Vellan Vale Bank was saved in October 1931')
  })
})

describe('the place of a statement', () => {
  const passages = [
    '# Harbour Act\n\n**1. Repeal.** The Act of 1903 is repealed.\n\n**2. Dues.** The commissioners may charge threepence for each ton.\n- Coal is free.\n- Fish is free too.',
    'The weather was fine. A bridge was built across the river in 1934.',
  ]
  const found = (statement: string) => {
    const place = findPlace(statement, passages)
    return place && [place.passage, passages[place.passage]?.slice(place.start, place.end)]
  }

  it('is the sentence that says it, in whichever passage', () => {
    expect(found('The dues are threepence a ton, charged by the commissioners')).toEqual([0, 'The commissioners may charge threepence for each ton.'])
    expect(found('In 1934 they built a bridge over the river')).toEqual([1, 'A bridge was built across the river in 1934.'])
  })

  it('is nowhere when nothing is like it', () => {
    expect(found('Penguins live in Antarctica')).toBeNull()
    expect(found('')).toBeNull()
  })

  it('is found in languages without blanks', () => {
    const place = findPlace('橋は1934年に開通した', ['天気がよかった。橋は1934年に開通しました。人々は喜んだ。'])
    expect(place && '天気がよかった。橋は1934年に開通しました。人々は喜んだ。'.slice(place.start, place.end)).toBe('橋は1934年に開通しました。')
  })

  it('never goes over the end of a paragraph or an item', () => {
    const text = passages[0] ?? ''
    for (const { start, end } of sentencesOf(text)) expect(text.slice(start, end)).not.toMatch(/\n\s*\n|\n-/)
  })

  it('is marked in what Markdown made of the passage, and nothing else is', () => {
    const text = 'First *one*.\n\nThe **bridge** opened & was `crossed`. Then rain.'
    const start = text.indexOf('The **')
    const { container } = render(<AnswerMarkdown text={text} mark={{ start, end: text.indexOf(' Then rain') }} />)
    expect([...container.querySelectorAll('mark')].map((one) => one.textContent).join('')).toBe('The bridge opened & was crossed.')
    expect(container.querySelector('strong mark')?.textContent).toBe('bridge')
    expect(container.textContent).toContain('Then rain.')
  })
})
