import { act, cleanup, renderHook } from '@testing-library/react'
import { HashRouter } from 'react-router'
import { afterEach, expect, it } from 'vitest'
import { useListState } from './use-list-state'

afterEach(() => {
  cleanup()
  window.location.hash = ''
})

const address = () => Object.fromEntries(new URLSearchParams(window.location.hash.split('?')[1]))

it('keeps every one of several changes in quick succession', () => {
  window.location.hash = '#/documents?page=4'
  const { result } = renderHook(() => useListState(), { wrapper: HashRouter })
  act(() => {
    result.current.setText('velmouth')
    result.current.sorting.onSort('file_path')
    result.current.sorting.onSort('file_path')
    result.current.setState('failed')
  })
  expect(address()).toEqual({ q: 'velmouth', sort: 'file_path', dir: 'desc', state: 'failed' })
})

it('keeps what follows a second question mark in the address', () => {
  window.location.hash = '#/documents?q=who?&sort=id'
  const { result } = renderHook(() => useListState(), { wrapper: HashRouter })
  act(() => result.current.setSize(100))
  expect(new URLSearchParams(window.location.hash.slice('#/documents?'.length)).toString()).toBe('q=who%3F&sort=id&size=100')
})
