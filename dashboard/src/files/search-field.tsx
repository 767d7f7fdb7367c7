import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import IconSearch from '@tabler/icons-react/dist/esm/icons/IconSearch.mjs';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { strings } from '../strings.ts';
import styles from './search-field.module.css';

const words = strings.files;
const route = getRouteApi('/session/');

/** Milliseconds without a key pressed, after which what was typed is searched for. */
const PAUSE = 300;

/** Searches as one types. The address holds the search, so that it can be kept, sent and gone back to. */
export function SearchField() {
  const { search = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(search);
  // What was typed stays as it is, with the space before its next word.
  useEffect(() => setTyped((now) => (now.trim() === search ? now : search)), [search]);
  const apply = (wanted: string) => {
    const text = wanted.trim();
    // One step of the history for a search, not one for each letter.
    void navigate({ search: text === '' ? {} : { search: text }, replace: search !== '' });
  };
  const applySoon = useDebouncedCallback(apply, PAUSE);
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
