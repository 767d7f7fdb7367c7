import { ActionIcon, Button, createTheme, Menu, Modal, TextInput, Tooltip } from '@mantine/core';

/** `styles/variables.css` gives the colours; what stands here is how components behave. */
export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray', size: 'lg' } }),
    Button: Button.extend({ defaultProps: { variant: 'filled' } }),
    // In its place on the page a menu is part of a landmark; and a menu holds nothing but its items (axe).
    Menu: Menu.extend({ defaultProps: { withinPortal: false, withInitialFocusPlaceholder: false } }),
    // The library would lock the page's scrolling with a style element, which the policy forbids.
    Modal: Modal.extend({
      defaultProps: {
        lockScroll: false,
        centered: true,
        transitionProps: { duration: 120 },
        // A name without a place to break at is part of some questions.
        styles: { title: { overflowWrap: 'anywhere' } },
        // The page has one banner, and a dialog's head is not it.
        attributes: { header: { role: 'presentation' } },
      },
    }),
    TextInput: TextInput.extend({ defaultProps: { autoComplete: 'off' } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 400, withinPortal: true } }),
  },
});
