//! Mutable access to one link and to all others at the same time.

use super::link::Link;

/// All links except one.
#[derive(Debug)]
pub(super) struct Others<'a> {
    before: &'a mut [Link],
    after: &'a mut [Link],
}

impl<'a> Others<'a> {
    /// Splits the links into one link and the others.
    pub(super) fn split(links: &'a mut [Link], one: u32) -> (&'a mut Link, Self) {
        let (before, rest) = links.split_at_mut(one as usize);
        let Some((one, after)) = rest.split_first_mut() else {
            unreachable!("links are numbered from zero on");
        };
        (one, Self { before, after })
    }

    /// Returns a mutable reference to a link: any except the one that [`Self::split`] has returned separately.
    #[inline(always)]
    pub(super) fn get(&mut self, link: u32) -> &mut Link {
        let link = link as usize;
        match link.checked_sub(self.before.len()) {
            None => &mut self.before[link],
            Some(after) => &mut self.after[after - 1],
        }
    }
}
