//! Static dispatch to the built-in algorithms: an enum instead of calls through function pointers.

/// Declares the modules of a list of algorithms, the list of their entries, the enum [`Controller`](crate::Controller)
/// of all algorithms, and a macro that calls an algorithm's methods. A list item is `module::Type`; each module has
/// the static `ENTRY: Entry<Type>`.
macro_rules! controllers {
    ($($module:ident::$Algorithm:ident),+ $(,)?) => {
        controllers! { ($) $($module::$Algorithm),+ }
    };
    // The dollar sign is passed to the macro that is defined here, which cannot contain it otherwise.
    (($d:tt) $($module:ident::$Algorithm:ident),+) => {
        $(pub(crate) mod $module;)+

        /// All built-in algorithms, and a variant for custom ones. Flows of one kind start from clones of one
        /// controller, and share its tables. The tag is a separate byte: it is faster to read than a niche.
        #[allow(missing_docs)]
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        #[repr(u8)]
        pub enum Controller {
            $($Algorithm($module::$Algorithm),)+
            /// An algorithm that is not built in; its state cannot be stored.
            #[serde(skip)]
            Custom(Box<dyn CongestionControl>),
        }

        /// Declarations of all algorithms, in the order of the macro's list.
        pub(crate) static ENTRIES: &[Entry<Controller>] = &[
            $($module::ENTRY.building(|settings| {
                ($module::ENTRY.build)(settings).map(Controller::$Algorithm)
            }),)+
        ];

        /// Modules of all algorithms, in the order of the macro's list.
        #[cfg(test)]
        pub(crate) static MODULES: &[&str] = &[$(stringify!($module)),+];

        /// Calls a method of the algorithm that `$controller` contains.
        macro_rules! dispatch {
            ($d controller:expr, $d algorithm:ident => $d call:expr) => {
                match $d controller {
                    $(Controller::$Algorithm($d algorithm) => $d call,)+
                    Controller::Custom($d algorithm) => $d call,
                }
            };
        }

        impl Controller {
            /// Takes over the tables that `like` shares, by [`CongestionControl::share_tables`].
            pub(crate) fn share_tables_with(&mut self, like: &Self) {
                match (self, like) {
                    $((Self::$Algorithm(own), Self::$Algorithm(like)) => own.share_tables(like),)+
                    _ => {}
                }
            }
        }
    };
}

pub(crate) use controllers;
