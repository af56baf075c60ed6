import type { ServedTool, ToolServerView } from '../tools/tool-servers.ts';

/** The rows of image servers, by the reports of pods: a server is running where any pod offers its tools. */
export function imageServersFrom(podTools: readonly ServedTool[], views: readonly ToolServerView[]): ToolServerView[] {
  return views.map((view) => {
    const count = view.transport === 'image' ? podTools.filter(({ server }) => server === view.name).length : 0;
    return count === 0 ? view : { ...view, running: true, state: 'running', tool_count: count };
  });
}
