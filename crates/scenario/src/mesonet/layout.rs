//! The hierarchy of routers: their names, and the router above each.

use longhaul_keys::Field;
use longhaul_mesonet::config::{AccessClass, Parent};

use super::keys::{AccessKeys, BackboneKeys, Identifier, PopKeys, Routers, TopologyFile};
use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;

/// All routers, in the order of their numbers.
#[derive(Default)]
pub(crate) struct Layout {
    pub backbone: Vec<Router>,
    pub pops: Vec<(Router, usize)>,
    pub access: Vec<Access>,
}

/// A router, with the values that the topology file gives for it.
pub(crate) struct Router {
    pub name: String,
    /// Capacity in packets per time step; `None` if it follows from the router's class.
    pub rate: Option<f64>,
    /// Number of packets that each buffer holds; `None` if it follows from the keys of the network.
    pub buffer: Option<u64>,
    /// Position of the router in the file, for messages.
    pub origin: Origin,
}

/// An access router, with the values that the topology file gives for it.
pub(crate) struct Access {
    pub router: Router,
    pub class: AccessClass,
    pub parent: Parent,
    /// Number of sources below the router; `None` if it follows from the router's class.
    pub sources: Option<u32>,
    /// Number of receivers below the router; `None` if it follows from the router's class.
    pub receivers: Option<u32>,
}

impl Access {
    /// Returns the index of the backbone router above the access router.
    pub fn backbone(&self, layout: &Layout) -> usize {
        match self.parent {
            Parent::Pop(pop) => layout.pops[pop].1,
            Parent::Backbone(backbone) => backbone,
        }
    }
}

/// Returns the name of a class in keys and messages.
pub(crate) const fn class_name(class: AccessClass) -> &'static str {
    match class {
        AccessClass::Direct => "direct",
        AccessClass::Fast => "fast",
        AccessClass::Normal => "normal",
    }
}

impl Layout {
    /// Reads the routers from the checked table `topology`, which is at `path`.
    pub fn of(topology: &Table, path: &str, out: &mut Vec<Diagnostic>) -> Self {
        let mut layout = Self::default();
        for (index, node) in topology.list(TopologyFile::backbone).iter().enumerate() {
            let table = node.table().expect("a router is a table");
            layout.add_backbone(index, table, &node.origin);
        }
        layout.check_names(path, out);
        layout.check_number(topology, path, out);
        layout
    }

    fn add_backbone(&mut self, index: usize, table: &Table, origin: &Origin) {
        let BackboneKeys { name, rate, buffer } = BackboneKeys::of(table);
        let parent = Parent::Backbone(index);
        let (class, base) = (
            (BackboneKeys::direct, AccessClass::Direct),
            format!("{name}0"),
        );
        self.add_access(table, class, parent, &base, 0);
        for (number, node) in (1..).zip(table.list(BackboneKeys::pops)) {
            let below = node.table().expect("a point of presence is a table");
            let keys = PopKeys::of(below);
            let named = Router {
                name: keys.name.unwrap_or_else(|| format!("{name}{number}")),
                rate: keys.rate,
                buffer: keys.buffer,
                origin: node.origin.clone(),
            };
            let (base, parent) = (named.name.clone(), Parent::Pop(self.pops.len()));
            let first = self.access.len();
            let class = (PopKeys::normal, AccessClass::Normal);
            self.add_access(below, class, parent, &base, 0);
            let normal = self.access.len() - first;
            let class = (PopKeys::fast, AccessClass::Fast);
            self.add_access(below, class, parent, &base, normal);
            self.pops.push((named, index));
        }
        self.backbone.push(Router {
            name,
            rate,
            buffer,
            origin: origin.clone(),
        });
    }

    /// Adds the access routers of a class below a router. Their default names are `base` followed by letters: the
    /// first access router gets letter number `first`.
    fn add_access(
        &mut self,
        above: &Table,
        (key, class): (Field<Routers>, AccessClass),
        parent: Parent,
        base: &str,
        first: usize,
    ) {
        let Some(node) = above.get(key) else {
            return;
        };
        let without_keys = Node::new(Value::Table(Table::new()), node.origin.clone());
        let routers: Vec<&Node> = match above.read(key) {
            Routers::Number(count) => vec![&without_keys; count as usize],
            Routers::Each => above.list(key).iter().collect(),
        };
        for (letter, node) in (first..).zip(routers) {
            let keys: AccessKeys = node.read();
            let name = || format!("{base}{}", letters(letter));
            self.access.push(Access {
                router: Router {
                    name: keys.name.unwrap_or_else(name),
                    rate: keys.rate,
                    buffer: keys.buffer,
                    origin: node.origin.clone(),
                },
                class,
                parent,
                sources: keys.sources,
                receivers: keys.receivers,
            });
        }
    }

    /// Checks the number of routers, since packets have 16 bits for their destination router.
    fn check_number(&self, topology: &Table, path: &str, out: &mut Vec<Diagnostic>) {
        let number = self.pops.len() + self.access.len();
        if number > usize::from(u16::MAX) {
            let message = format!(
                "{number} points of presence and access routers; at most {} are allowed",
                u16::MAX
            );
            out.push(Diagnostic::at(
                topology,
                TopologyFile::backbone,
                path,
                message,
            ));
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

/// Returns the letters that stand for a number: a, b ... z, aa, ab ...
fn letters(number: usize) -> String {
    let last = char::from(b'a' + (number % 26) as u8);
    match number / 26 {
        0 => last.to_string(),
        before => letters(before - 1) + &last.to_string(),
    }
}

/// Returns the index of the element that a key refers to, by name or by number from 1; `None` after
/// an error. `what` is the kind of the element in messages, `names` are the names of all elements.
pub(crate) fn find<'a>(
    node: &Node,
    what: &str,
    names: impl Iterator<Item = &'a str> + Clone,
    path: &str,
    out: &mut Vec<Diagnostic>,
) -> Option<usize> {
    let count = names.clone().count();
    let (position, written) = match node.read() {
        Identifier::Name(name) => (names.clone().position(|known| known == name), name),
        Identifier::Number(number) => {
            let position = (number as usize).checked_sub(1);
            let position = position.filter(|&index| index < count);
            (position, number.to_string())
        }
    };
    if position.is_none() {
        let near = longhaul_units::nearest(&written, names)
            .map_or(String::new(), |near| format!(" (did you mean `{near}`?)"));
        let message = format!(
            "there is no {what} `{written}`{near}; write a name, or a number from 1 to {count}"
        );
        out.push(Diagnostic::new(path, &node.origin, message));
    }
    position
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
