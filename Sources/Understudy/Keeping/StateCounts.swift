/// How much a server has read from its folder of states, and written to it.
struct StateCounts {
    /// Sandboxes read.
    var read = 0
    /// Files written.
    var written = 0
    /// The bytes of these files.
    var bytes = 0
    /// Attempts to write a file that failed.
    var failed = 0
    /// Sandboxes taken from another replica, or from one that was gone.
    var takenOver = 0
    /// Sandboxes given to another replica that asked for them.
    var handedOver = 0
    /// How often the lease has lapsed.
    var lapses = 0
}
