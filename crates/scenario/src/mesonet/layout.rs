//! The hierarchy of routers: their names, and the parent of each.

use longhaul_mesonet::config::{AccessClass, Parent};

use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::typed::{Typed, text_of};

/// Routers in the order of their numbers.
#[derive(Default)]
pub(crate) struct Layout {
    pub backbone: Vec<Router>,
    pub pops: Vec<(Router, usize)>,
    pub access: Vec<Access>,
}

/// A router and its own values in the file.
pub(crate) struct Router {
    pub name: String,
    /// Its own capacity in packets per time step, if it has one.
    pub rate: Option<f64>,
    /// Its own buffer, packets in each queue, if it has one.
    pub buffer: Option<u64>,
    /// Its place in the file, for diagnostics.
    pub origin: Origin,
}

/// An access router.
pub(crate) struct Access {
    pub router: Router,
    pub class: AccessClass,
    pub parent: Parent,
    /// Its own number of sources, if it has one.
    pub sources: Option<u32>,
    /// Its own number of receivers, if it has one.
    pub receivers: Option<u32>,
}

impl Access {
    /// The backbone router above it.
    pub fn backbone(&self, layout: &Layout) -> usize {
        match self.parent {
            Parent::Pop(pop) => layout.pops[pop].1,
            Parent::Backbone(backbone) => backbone,
        }
    }
}

/// The name of a class in keys and messages.
pub(crate) const fn class_name(class: AccessClass) -> &'static str {
    match class {
        AccessClass::Direct => "direct",
        AccessClass::Fast => "fast",
        AccessClass::Normal => "normal",
    }
}

impl Layout {
    /// Of a checked topology file. `path` is that of its table.
    pub fn of(topology: &Table, path: &str, out: &mut Vec<Diagnostic>) -> Self {
        let mut layout = Self::default();
        for (index, node) in topology.list("backbone").iter().enumerate() {
            let table = node.table().expect("a router is a table");
            layout.add_backbone(index, table, &node.origin);
        }
        layout.check_names(path, out);
        layout
    }

    fn add_backbone(&mut self, index: usize, table: &Table, origin: &Origin) {
        let name = table.word("name").to_string();
        let parent = Parent::Backbone(index);
        self.add_access(
            table,
            "direct",
            AccessClass::Direct,
            parent,
            &format!("{name}0"),
            0,
        );
        let pops = table.get("pops").map_or(&[][..], |_| table.list("pops"));
        for (number, node) in (1..).zip(pops) {
            let below = node.table().expect("a point of presence is a table");
            let named = router(below, || format!("{name}{number}"), &node.origin);
            let (base, parent) = (named.name.clone(), Parent::Pop(self.pops.len()));
            let first = self.access.len();
            self.add_access(below, "normal", AccessClass::Normal, parent, &base, 0);
            let normal = self.access.len() - first;
            self.add_access(below, "fast", AccessClass::Fast, parent, &base, normal);
            self.pops.push((named, index));
        }
        self.backbone.push(router(table, || name, origin));
    }

    /// Adds the access routers of a class; letters count from `first`.
    fn add_access(
        &mut self,
        above: &Table,
        key: &str,
        class: AccessClass,
        parent: Parent,
        base: &str,
        first: usize,
    ) {
        let Some(node) = above.get(key) else {
            return;
        };
        let empty = Table::new();
        let tables: Vec<(&Table, &Origin)> = match &node.value {
            Value::List(routers) => routers
                .iter()
                .map(|one| (one.table().expect("a router is a table"), &one.origin))
                .collect(),
            _ => vec![(&empty, &node.origin); node.read::<u64>() as usize],
        };
        for (letter, (table, origin)) in (first..).zip(tables) {
            let hosts = |key: &str| table.get(key).map(|node| node.read::<u64>() as u32);
            self.access.push(Access {
                router: router(table, || format!("{base}{}", letters(letter)), origin),
                class,
                parent,
                sources: hosts("sources"),
                receivers: hosts("receivers"),
            });
        }
    }

    fn check_names(&self, path: &str, out: &mut Vec<Diagnostic>) {
        let backbone = self.backbone.iter();
        let pops = self.pops.iter().map(|(router, _)| router);
        let access = self.access.iter().map(|access| &access.router);
        let mut routers: Vec<&Router> = backbone.chain(pops).chain(access).collect();
        routers.sort_by(|a, b| a.name.cmp(&b.name));
        for pair in routers.windows(2) {
            if pair[0].name == pair[1].name {
                let message = format!("there are two routers `{}`; give them names", pair[1].name);
                let path = join(path, "backbone");
                out.push(Diagnostic::new(&path, &pair[1].origin, message));
            }
        }
    }
}

fn router(table: &Table, name: impl FnOnce() -> String, origin: &Origin) -> Router {
    Router {
        name: table
            .get("name")
            .map_or_else(name, |node| text_of(node).to_string()),
        rate: table.get("rate").map(Node::read::<f64>),
        buffer: table.get("buffer").map(Node::read::<u64>),
        origin: origin.clone(),
    }
}

/// a, b ... z, aa, ab ...
fn letters(number: usize) -> String {
    let last = char::from(b'a' + (number % 26) as u8);
    match number / 26 {
        0 => last.to_string(),
        before => letters(before - 1) + &last.to_string(),
    }
}

/// The position of the element that a key refers to by name or by number from 1; `what` is its kind,
/// `names` those of all elements.
pub(crate) fn find<'a>(
    node: &Node,
    what: &str,
    names: impl Iterator<Item = &'a str> + Clone,
    path: &str,
    out: &mut Vec<Diagnostic>,
) -> Option<usize> {
    let count = names.clone().count();
    let (found, written) = match &node.value {
        Value::Text(name) => (names.clone().position(|known| known == name), name.clone()),
        _ => {
            let number = node.read::<u64>() as usize;
            let found = number.checked_sub(1).filter(|&index| index < count);
            (found, number.to_string())
        }
    };
    if found.is_none() {
        let near = longhaul_units::nearest(&written, names)
            .map_or(String::new(), |near| format!(" (did you mean `{near}`?)"));
        let message = format!(
            "there is no {what} `{written}`{near}; write a name, or a number from 1 to {count}"
        );
        out.push(Diagnostic::new(path, &node.origin, message));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn names_after_z_have_two_letters() {
        assert_eq!(
            [0, 25, 26, 27, 701, 702].map(letters),
            ["a", "z", "aa", "ab", "zz", "aaa"]
        );
    }
}
