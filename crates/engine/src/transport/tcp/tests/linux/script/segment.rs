//! A script's line about a segment, such as `P. 1:1001(1000) ack 1 win 257 <sack 2001:3001,nop,nop>`.

/// The fields of a script's line about a segment.
#[derive(Debug, Default)]
pub(super) struct Segment {
    flags: String,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) ack: Option<u64>,
    pub(super) window: Option<u64>,
    pub(super) mss: Option<u64>,
    pub(super) window_scale: u32,
    pub(super) can_sack: bool,
    pub(super) has_timestamps: bool,
    pub(super) sack: Vec<(u64, u64)>,
}

impl Segment {
    /// Reads a segment from the text after `<` or `>` in a script's line.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        // The line has a prefix such as `[ect0]`.
        let text = match text.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or("a bracket")?.1.trim_start(),
            None => text,
        };
        let (fixed, options) = text.split_once('<').unwrap_or((text, ""));
        let mut words = fixed.split_whitespace();
        let flags = words.next().ok_or("no flags")?.to_string();
        if flags.chars().any(|flag| !"SFPRWE.".contains(flag)) {
            return Err("not a segment of TCP".to_string());
        }
        let range = words.next().ok_or("no sequence numbers")?;
        let (start, end) = range
            .split('(')
            .next()
            .and_then(pair)
            .ok_or("no sequence numbers")?;
        let mut segment = Self {
            flags,
            start,
            end,
            ..Self::default()
        };
        while let Some(word) = words.next() {
            let number = words.next().and_then(|word| word.parse().ok());
            match word {
                "ack" => segment.ack = number,
                "win" => segment.window = number,
                _ => return Err("a field of a segment".to_string()),
            }
        }
        segment.read_options(options.trim_end_matches('>'))?;
        Ok(segment)
    }

    fn read_options(&mut self, options: &str) -> Result<(), String> {
        for option in options.split(',').map(str::trim) {
            let mut words = option.split_whitespace();
            match words.next() {
                None | Some("nop" | "eol" | "...") => {}
                Some("mss") => self.mss = words.next().and_then(|word| word.parse().ok()),
                Some("wscale") => {
                    let scale = words.next().and_then(|word| word.parse().ok());
                    self.window_scale = scale.ok_or("a window scale")?;
                }
                Some("sackOK") => self.can_sack = true,
                Some("TS") => self.has_timestamps = true,
                Some("sack") => {
                    let blocks: Option<Vec<_>> = words.map(pair).collect();
                    self.sack = blocks.ok_or("a SACK block")?;
                }
                Some(_) => return Err("an option of a segment".to_string()),
            }
        }
        Ok(())
    }

    pub(super) fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }
}

/// Reads a pair such as `1:1001`.
fn pair(text: &str) -> Option<(u64, u64)> {
    let (start, end) = text.split_once(':')?;
    Some((start.parse().ok()?, end.parse().ok()?))
}
