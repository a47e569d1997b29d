public import JSON

/// Export, import and reset of the state.
extension VendorCell {
    @usableFromInline
    func export(_ extent: StateExtent) -> JSON? {
        let content = snapshot()
        return content.desk.vendor.export(content.state, extent)
    }

    @usableFromInline
    func read(_ node: FixtureNode, _ extent: StateExtent) throws(FixtureProblem) -> @Sendable () -> Void {
        let content = snapshot()
        let state = try content.desk.vendor.state(importing: node, extent, over: content.state)
        return { self.replace(state, madeAt: content.desk) }
    }

    @usableFromInline
    func reset() {
        let desk = desk
        replace(desk.vendor.state(afterResetting: snapshot().state), madeAt: desk)
    }
}
