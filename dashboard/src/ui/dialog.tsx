import { Modal, type ModalProps } from '@mantine/core';
import { strings } from '../strings.ts';
import { keepFocus } from './keep-focus.ts';

/** A modal dialog. When it closes, the focus goes back to the element that opened it, or to the page's content. */
export function Dialog({ onExitTransitionEnd, ...others }: ModalProps) {
  return (
    <Modal
      closeButtonProps={{ 'aria-label': strings.close }}
      onExitTransitionEnd={() => {
        onExitTransitionEnd?.();
        keepFocus();
      }}
      {...others}
    />
  );
}
