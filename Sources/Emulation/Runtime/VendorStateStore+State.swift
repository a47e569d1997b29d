public import JSON

/// Export, import and reset of the state.
extension VendorStateStore {
    @usableFromInline
    func export(_ extent: StateExtent) -> JSON? {
        let content = snapshot()
        return content.runtime.vendor.export(content.state, extent)
    }

    @usableFromInline
    func read(_ node: FixtureNode, _ extent: StateExtent) throws(FixtureProblem) -> @Sendable () -> Void {
        let content = snapshot()
        let state = try content.runtime.vendor.state(importing: node, extent, over: content.state)
        return { self.replace(state, madeAt: content.runtime) }
    }

    @usableFromInline
    func reset() {
        let runtime = runtime
        replace(runtime.vendor.state(afterResetting: snapshot().state), madeAt: runtime)
    }
}
