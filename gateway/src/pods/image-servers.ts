import type { ServedTool, ToolServerView } from '../tools/tool-servers.ts';

/** The rows of image servers as the pods tell of them: one runs where any pod offers its tools. */
export function imageServersFrom(podTools: readonly ServedTool[], views: readonly ToolServerView[]): ToolServerView[] {
  return views.map((view) => {
    const count = view.transport === 'image' ? podTools.filter(({ server }) => server === view.name).length : 0;
    return count === 0 ? view : { ...view, running: true, state: 'running', tool_count: count };
  });
}
