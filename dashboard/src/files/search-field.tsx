import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import IconSearch from '@tabler/icons-react/dist/esm/icons/IconSearch.mjs';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { strings } from '../strings.ts';
import styles from './search-field.module.css';

const words = strings.files;
const route = getRouteApi('/session/');

/** The search starts after this time without a key press. */
const DEBOUNCE_MS = 300;

/** Searches while the user types. The search is in the address, so that users can save it, share it and go back to it. */
export function SearchField() {
  const { search = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(search);
  useEffect(() => setTyped(search), [search]);
  const apply = (text: string) => {
    // The browser's history gets one entry per search, not per letter.
    void navigate({ search: text.trim() === '' ? {} : { search: text }, replace: search !== '' });
  };
  const applySoon = useDebouncedCallback(apply, DEBOUNCE_MS);
  return (
    <TextInput
      className={styles.field}
      type="search"
      aria-label={words.search}
      placeholder={words.search}
      value={typed}
      maxLength={255}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={
        typed !== '' && (
          <CloseButton
            aria-label={words.clearSearch}
            onClick={() => {
              setTyped('');
              applySoon('');
              applySoon.flush();
            }}
          />
        )
      }
      onChange={({ currentTarget: { value } }) => {
        setTyped(value);
        applySoon(value);
      }}
      onKeyDown={({ key }) => {
        if (key === 'Enter') applySoon.flush();
      }}
    />
  );
}
